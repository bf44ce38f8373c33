package hyperloglog

import "slices"

// A sparse string is a sequence of runs, each of registers that have the same value:
//
//	00llllll           l+1 registers are zero, up to 64
//	01llllll llllllll  l+1 registers are zero, up to 16384
//	1vvvvvll           l+1 registers are v+1, up to 4 and 32
const (
	longRun        = 1 << 6
	valueRun       = 1 << 7
	maxZeros       = 64
	maxValueRun    = 4
	maxSparseValue = 32
)

// run is one of them.
type run struct {
	value       uint8
	length      int
	first       int // register
	start, size int // in the bytes
}

// runAt reads the run that begins at a place in the bytes, which is not their end. It reports false for half a run.
func runAt(sparse []byte, start int) (r run, ok bool) {
	b := sparse[start]
	r = run{start: start, size: 1}
	switch {
	case b&valueRun != 0:
		r.value, r.length = b>>2&(maxSparseValue-1)+1, int(b&(maxValueRun-1))+1
	case b&longRun == 0:
		r.length = int(b) + 1
	case start+1 < len(sparse):
		r.length, r.size = int(b&(longRun-1))<<8+int(sparse[start+1])+1, 2
	default:
		return r, false
	}
	return r, true
}

// runs calls what is given with each run. It returns ErrCorrupt if these are not of all registers.
func runs(sparse []byte, each func(r run)) error {
	registers := 0
	for at := 0; at < len(sparse); {
		r, ok := runAt(sparse, at)
		if !ok || registers+r.length > Count {
			return ErrCorrupt
		}
		r.first = registers
		each(r)
		at += r.size
		registers += r.length
	}
	if registers != Count {
		return ErrCorrupt
	}
	return nil
}

// appendZeros appends a run of so many registers that are zero, if there are any.
func appendZeros(dst []byte, n int) []byte {
	switch {
	case n == 0:
		return dst
	case n <= maxZeros:
		return append(dst, byte(n-1))
	}
	return append(dst, byte((n-1)>>8|longRun), byte(n-1))
}

// appendRun appends a run of so many registers with a value, if there are any.
func appendRun(dst []byte, value uint8, n int) []byte {
	switch {
	case n == 0:
		return dst
	case value == 0:
		return appendZeros(dst, n)
	}
	return append(dst, (value-1)<<2|byte(n-1)|valueRun)
}

// addSparse makes a change to a sparse string, which becomes dense if it cannot be sparse any more. It looks at no more runs than it has to.
func addSparse(value []byte, change Register) (next []byte, changed bool, err error) {
	if change.Value > maxSparseValue {
		return addDense(value, change)
	}
	sparse := value[header:]
	at, before, ok := find(sparse, int(change.Index))
	if !ok {
		return value, false, ErrCorrupt
	}
	if at.value >= change.Value {
		return value, false, nil
	}
	var room [5]byte
	split := appendRun(room[:0], at.value, int(change.Index)-at.first)
	split = appendRun(split, change.Value, 1)
	split = appendRun(split, at.value, at.first+at.length-1-int(change.Index))
	if longer := len(split) - at.size; longer > 0 && len(value)+longer > maxSparse {
		return addDense(value, change)
	}
	next = make([]byte, 0, len(value)+len(split)-at.size)
	next = append(append(append(next, value[:header+at.start]...), split...), sparse[at.start+at.size:]...)
	return join(next, header+before), true, nil
}

// find looks for the run that has a register, and says where the one before it begins (or it itself, if it is the first).
func find(sparse []byte, register int) (r run, before int, ok bool) {
	for first := 0; r.start+r.size < len(sparse); {
		before = r.start
		if r, ok = runAt(sparse, r.start+r.size); !ok {
			return r, before, false
		}
		if r.first = first; register < first+r.length {
			return r, before, true
		}
		first += r.length
	}
	return r, before, false
}

// join makes one run of neighbours of the same value, in the few runs that begin at a place: those that a change may have made neighbours.
func join(value []byte, at int) []byte {
	const looked = 5
	for range looked {
		if at >= len(value) {
			break
		}
		r, ok := runAt(value, at)
		if !ok {
			break
		}
		if r.value != 0 && at+1 < len(value) {
			if next, ok := runAt(value, at+1); ok && next.value == r.value && r.length+next.length <= maxValueRun {
				value[at+1] = appendRun(nil, r.value, r.length+next.length)[0]
				value = slices.Delete(value, at, at+1)
				continue // it may go on with the next one
			}
		}
		at += r.size
	}
	return value
}

// addDense makes a change to a sparse string that becomes dense for it.
func addDense(value []byte, change Register) (next []byte, changed bool, err error) {
	if next, err = dense(value); err != nil {
		return value, false, err
	}
	setDense(next[header:], int(change.Index), change.Value)
	return next, true, nil
}

// dense returns a sparse string as a dense one.
func dense(value []byte) (next []byte, err error) {
	next = make([]byte, denseSize)
	copy(next, value[:header])
	next[formAt] = formDense
	err = runs(value[header:], func(r run) {
		for i := 0; r.value != 0 && i < r.length; i++ {
			setDense(next[header:], r.first+i, r.value)
		}
	})
	return next, err
}
