package ring

import "slices"

// layout says how the replicas of a slot may be spread over racks: as evenly as
// possible. Every slot has least[r] replicas in rack r, and extra more, at most one
// to a rack, in racks that have another member. With more racks than replicas least
// is 0 everywhere, and no rack gets two.
type layout struct {
	rack  []int // of each member
	least []int // by rack
	size  []int // members, by rack
	extra int
	width int
}

func newLayout(members []Member, width int) layout {
	var names []string
	for _, m := range members {
		names = append(names, m.Rack)
	}
	slices.Sort(names)
	names = slices.Compact(names)

	l := layout{least: make([]int, len(names)), size: make([]int, len(names)), extra: width, width: width}
	for _, m := range members {
		r, _ := slices.BinarySearch(names, m.Rack)
		l.rack = append(l.rack, r)
		l.size[r]++
	}
	for { // one more in every rack that has one, as long as the replicas suffice
		room := 0
		for r := range names {
			if l.hasRoom(r) {
				room++
			}
		}
		if room == 0 || room > l.extra {
			return l
		}
		for r := range names {
			if l.hasRoom(r) {
				l.least[r]++
			}
		}
		l.extra -= room
	}
}

// hasRoom reports whether the rack has more members than replicas of every slot.
func (l *layout) hasRoom(rack int) bool { return l.least[rack] < l.size[rack] }

// most returns how many replicas of a slot the rack may have.
func (l *layout) most(rack int) int {
	if l.extra > 0 && l.hasRoom(rack) {
		return l.least[rack] + 1
	}
	return l.least[rack]
}

func (l *layout) count(chosen []int, rack int) int {
	n := 0
	for _, i := range chosen {
		if l.rack[i] == rack {
			n++
		}
	}
	return n
}

// allows reports whether a slot that has the chosen members, fewer than it needs,
// may have the member too.
func (l *layout) allows(chosen []int, member int) bool {
	if slices.Contains(chosen, member) {
		return false
	}
	rack := l.rack[member]
	n := l.count(chosen, rack)
	if n < l.least[rack] {
		return true
	}
	return n < l.most(rack) && l.extras(chosen) < l.extra
}

// extras counts the chosen members beyond the least of their racks.
func (l *layout) extras(chosen []int) int {
	n := 0
	for k, i := range chosen {
		if l.count(chosen[:k+1], l.rack[i]) > l.least[l.rack[i]] {
			n++
		}
	}
	return n
}

// allowsExchange reports whether a slot with all its replicas may have the member
// "to", which it has not, in the place of "from".
func (l *layout) allowsExchange(chosen []int, from, to int) bool {
	a, b := l.rack[from], l.rack[to]
	return a == b || l.count(chosen, a) > l.least[a] && l.count(chosen, b) < l.most(b)
}

// shares returns every member's fair share of replicas and of homes, in slots: in
// proportion to the weights as far as the layout allows.
func (l *layout) shares(members []Member) (replica, home []float64) {
	racks := len(l.size)
	weights := make([]float64, len(members))
	inRack := make([][]int, racks)
	rackWeights, low, high := make([]float64, racks), make([]float64, racks), make([]float64, racks)
	for i, m := range members {
		r := l.rack[i]
		weights[i] = float64(m.Weight)
		inRack[r] = append(inRack[r], i)
		rackWeights[r] += weights[i]
	}
	for r := range racks {
		low[r], high[r] = float64(Slots*l.least[r]), float64(Slots*l.most(r))
	}
	replica = make([]float64, len(members))
	for r, total := range divide(float64(Slots*l.width), rackWeights, low, high) {
		var of []float64
		for _, i := range inRack[r] {
			of = append(of, weights[i])
		}
		for k, share := range divide(total, of, make([]float64, len(of)), slices.Repeat([]float64{Slots}, len(of))) {
			replica[inRack[r][k]] = share
		}
	}
	return replica, divide(Slots, weights, make([]float64, len(members)), replica)
}

// divide splits the total in proportion to the weights, each part kept between
// its low and its high. The highs must add up to the total at least.
//
// Products are assigned before they are added: Go may otherwise fuse the two on
// some processors, which rounds differently.
func divide(total float64, weights, low, high []float64) []float64 {
	parts := make([]float64, len(weights))
	fill := func(level float64) (sum float64) {
		for i, w := range weights {
			part := level * w
			parts[i] = min(max(part, low[i]), high[i])
			sum += parts[i]
		}
		return sum
	}
	below, above := 0.0, total
	for range 100 {
		if middle := (below + above) / 2; fill(middle) < total {
			below = middle
		} else {
			above = middle
		}
	}
	fill(above)
	return parts
}
