package hyperloglog

import "math"

// Registers are the registers of several strings put together: the highest value of each.
type Registers [Count]uint8

// Merge puts the registers of a string, which Check has accepted, to the others. The error is ErrCorrupt.
func (all *Registers) Merge(value []byte) error {
	registers := value[header:]
	if value[formAt] == formDense {
		for i := range all {
			all[i] = max(all[i], denseAt(registers, i))
		}
		return nil
	}
	return runs(registers, func(r run) {
		for i := r.first; r.value != 0 && i < r.first+r.length; i++ {
			all[i] = max(all[i], r.value)
		}
	})
}

// Into returns a string, which Check has accepted, with the highest of its registers and these; value is not changed. It is dense if it is asked to be, or has to be. Its
// estimate is not true any more. The error is ErrCorrupt.
func (all *Registers) Into(value []byte, beDense bool) (next []byte, err error) {
	next = value
	if beDense && !Dense(value) {
		if next, err = dense(value); err != nil {
			return nil, err
		}
	}
	changes := make([]Register, 0, Count)
	for i, v := range all {
		if v > 0 {
			changes = append(changes, Register{Index: uint16(i), Value: v})
		}
	}
	if next, _, err = Add(next, changes); err != nil {
		return nil, err
	}
	next, _, _ = Stale(next)
	return next, nil
}

// Dense reports whether a string, which Check has accepted, is dense.
func Dense(value []byte) bool { return value[formAt] == formDense }

// Estimate returns how many different elements were added.
func (all *Registers) Estimate() uint64 {
	var h histogram
	for _, value := range all {
		h[value]++
	}
	return h.estimate()
}

// Calculate returns how many different elements were added to a string, which Check has accepted. The error is ErrCorrupt.
func Calculate(value []byte) (uint64, error) {
	var h histogram
	registers := value[header:]
	if value[formAt] == formDense {
		for i := range Count {
			h[denseAt(registers, i)]++
		}
		return h.estimate(), nil
	}
	if err := runs(registers, func(r run) { h[r.value] += r.length }); err != nil {
		return 0, err
	}
	return h.estimate(), nil
}

// histogram is how many registers have each value.
type histogram [MaxValue + 1]int

// estimate is the estimator of Otmar Ertl, "New cardinality estimation algorithms for HyperLogLog sketches", arXiv:1702.01284. What is rounded is as in C: the
// conversions keep products and sums apart.
func (h *histogram) estimate() uint64 {
	const (
		m        = float64(Count)
		alphaInf = 0.721347520444481703680 // 1/(2 ln 2)
	)
	z := m * tau((m-float64(h[hashBits+1]))/m)
	for value := hashBits; value >= 1; value-- {
		z = float64(z+float64(h[value])) * 0.5
	}
	z += float64(m * sigma(float64(h[0])/m))
	n := math.Round(alphaInf * m * m / z)
	if !(n < math.MaxInt64) { // not a set that anybody has
		return 1 << 63
	}
	return uint64(n)
}

func sigma(x float64) float64 {
	if x == 1 {
		return math.Inf(1)
	}
	for y, z := 1.0, x; ; {
		x *= x
		last := z
		z += float64(x * y)
		y += y
		if z == last {
			return z
		}
	}
}

func tau(x float64) float64 {
	if x == 0 || x == 1 {
		return 0
	}
	for y, z := 1.0, 1-x; ; {
		x = math.Sqrt(x)
		last := z
		y *= 0.5
		z -= float64(float64((1-x)*(1-x)) * y)
		if z == last {
			return z / 3
		}
	}
}
