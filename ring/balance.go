package ring

import (
	"cmp"
	"math"
	"slices"
)

// tolerance is how far, as a fraction of its fair share, a member's load may
// be from it. Less would cost movement: every correction depends on the loads, and
// so on the other members.
const tolerance = 0.05

// balancer corrects an assignment of slots to members until every member's load is
// within the tolerance of its fair share, or next to it where that is finer than a
// slot.
//
// A correction is a shortest chain of exchanges from a member with too much to one
// with room, or from one with enough to one with too little: an augmenting path in
// the flow network of slots, racks and members. A fair assignment exists for
// replicas, so there always is such a path; because it is a shortest one its
// exchanges do not get into each other's way. Each correction brings the members
// nearer to the tolerance in sum, so the number of corrections is bounded by the
// excess at the start.
type balancer struct {
	load      []int
	low, high []int
	// exchanges yields all exchanges by which the member would gain, or lose, a slot,
	// in the order of the slots.
	exchanges func(member int, gain bool, yield func(exchange))
	apply     func(exchange)
}

// exchange gives a slot that "from" has to "to".
type exchange struct {
	slot, from, to int
	// regret is by how much "to" is the worse choice according to rendezvous costs.
	// Small ones are preferred, because an exchange that is nearly a tie stays the
	// preferred one when other members come and go.
	regret int64
}

// other returns the partner of the member that gains, or loses, the slot.
func (e exchange) other(gain bool) int {
	if gain {
		return e.from
	}
	return e.to
}

func newBalancer(shares []float64, tolerance float64) *balancer {
	b := &balancer{load: make([]int, len(shares))}
	for _, share := range shares {
		slack := tolerance * share
		b.low = append(b.low, int(min(math.Floor(share), math.Ceil(share-slack))))
		b.high = append(b.high, int(max(math.Ceil(share), math.Floor(share+slack))))
	}
	return b
}

func (b *balancer) run() {
	for _, gain := range []bool{false, true} {
		for member := range b.load {
			b.direct(member, gain)
			for b.missing(member, gain) && b.chain(member, gain) {
			}
		}
	}
}

// missing reports whether the member has still to gain, or to lose, a slot.
func (b *balancer) missing(member int, gain bool) bool {
	if gain {
		return b.load[member] < b.low[member]
	}
	return b.load[member] > b.high[member]
}

// direct makes the exchanges with the least regret that lead straight to, or from,
// a member that can afford it, at most one in each slot. Nearly all corrections
// are of this kind.
func (b *balancer) direct(member int, gain bool) {
	if !b.missing(member, gain) {
		return
	}
	var all []exchange // the best of each slot, which come one slot after the other
	b.exchanges(member, gain, func(e exchange) {
		last := len(all) - 1
		switch {
		case !b.canEnd(e.other(gain), gain):
		case last < 0 || all[last].slot != e.slot:
			all = append(all, e)
		case e.regret < all[last].regret:
			all[last] = e
		}
	})
	slices.SortFunc(all, func(d, e exchange) int {
		return cmp.Or(cmp.Compare(d.regret, e.regret), cmp.Compare(d.slot, e.slot))
	})
	for _, e := range all {
		if !b.missing(member, gain) {
			return
		}
		if b.canEnd(e.other(gain), gain) {
			b.make(e)
		}
	}
}

func (b *balancer) make(e exchange) {
	b.apply(e)
	b.load[e.from]--
	b.load[e.to]++
}

// chain lets the member gain or lose one slot by way of others, whose loads stay
// as they are. It reports false if there is no way.
func (b *balancer) chain(member int, gain bool) bool {
	path := b.search(member, gain)
	for _, e := range path {
		b.make(e)
	}
	return path != nil
}

// search finds a shortest chain of exchanges by breadth-first search, and takes
// of several last exchanges the one with the least regret.
func (b *balancer) search(start int, gain bool) []exchange {
	via := make([]exchange, len(b.load)) // the exchange by which a member was reached
	reached := make([]bool, len(b.load))
	reached[start] = true
	for queue := []int{start}; len(queue) > 0; queue = queue[1:] {
		best := b.best(queue[0], gain)
		end := -1
		for other, e := range best {
			if e.regret == math.MaxInt64 || reached[other] {
				continue
			}
			reached[other], via[other] = true, e
			queue = append(queue, other)
			if b.canEnd(other, gain) && (end < 0 || e.regret < best[end].regret) {
				end = other
			}
		}
		if end >= 0 {
			return trace(via, start, end, gain)
		}
	}
	return nil
}

// best returns, by other member, the exchange with the least regret.
func (b *balancer) best(member int, gain bool) []exchange {
	best := slices.Repeat([]exchange{{regret: math.MaxInt64}}, len(b.load))
	b.exchanges(member, gain, func(e exchange) {
		if other := e.other(gain); e.regret < best[other].regret {
			best[other] = e
		}
	})
	return best
}

// canEnd reports whether the member can give a slot away (gain), or take one more.
func (b *balancer) canEnd(member int, gain bool) bool {
	if gain {
		return b.load[member] > b.low[member]
	}
	return b.load[member] < b.high[member]
}

func trace(via []exchange, start, end int, gain bool) []exchange {
	var path []exchange
	for member := end; member != start; {
		e := via[member]
		path = append(path, e)
		member = e.other(!gain)
	}
	return path
}
