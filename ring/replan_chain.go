package ring

import (
	"math"
	"slices"
)

// maxHops bounds the length of a chain. Shortest chains are of two or three hops in
// all that was tried; a bound makes sure of an end.
const maxHops = 8

// hop is one exchange of a chain: some slot goes from one member to another.
type hop struct{ from, to, cost int }

// chains brings members that are still out of bounds into them by way of others,
// whose loads stay as they are, as long as no hop costs more than "most". It ends:
// each chain takes one slot from a member with too much, or gives one to a member
// with too little.
func (m *mover) chains(most int, e ends) {
	for {
		chain := m.shortest(most, e)
		if len(chain) == 0 || !m.follow(chain) {
			return
		}
		// What leads there once often does so many times.
		for e.gives(chain[0].from) && e.takes(chain[len(chain)-1].to) && m.follow(chain) {
		}
	}
}

// follow makes the exchanges of a chain, the last one first, so that nobody has more
// than before on the way. It reports false, and takes back what it did, if one is
// not possible any more.
func (m *mover) follow(chain []hop) bool {
	type made struct{ slot, from, to int }
	var done []made
	for _, h := range slices.Backward(chain) {
		slot := m.find(h.cost, h.from, h.to)
		if slot < 0 {
			for _, d := range slices.Backward(done) {
				m.give(d.slot, d.to, d.from)
			}
			return false
		}
		m.give(slot, h.from, h.to)
		done = append(done, made{slot, h.from, h.to})
	}
	return true
}

// shortest finds a cheapest chain from a member that gives to one that takes, of
// these one with the fewest hops (Bellman and Ford, hop by hop). It is empty if there
// is none.
func (m *mover) shortest(most int, e ends) []hop {
	n := len(m.members)
	cost := make([]int, n)
	for i := range cost {
		if cost[i] = math.MaxInt; e.gives(i) {
			cost[i] = 0
		}
	}
	var via [][]hop // by round and member: the hop by which it was reached at less cost
	best, end, round := math.MaxInt, -1, 0
	changed := m.matching(e.gives)
	if len(changed) == 0 || len(m.matching(e.takes)) == 0 {
		return nil
	}
	for hops := 0; hops < maxHops && len(changed) > 0; hops++ {
		reached, next := make([]hop, n), slices.Clone(cost)
		for _, from := range changed {
			for to, c := range m.reach(most, from) {
				if c != math.MaxInt && cost[from]+c < next[to] {
					next[to], reached[to] = cost[from]+c, hop{from, to, c}
				}
			}
		}
		changed = changed[:0]
		for i := range n {
			if next[i] < cost[i] {
				changed = append(changed, i)
				if e.takes(i) && next[i] < best {
					best, end, round = next[i], i, hops
				}
			}
		}
		cost, via = next, append(via, reached)
	}
	if end < 0 {
		return nil
	}
	return backwards(via, end, round)
}

// backwards collects the hops that led to a member in a round.
func backwards(via [][]hop, end, round int) []hop {
	var chain []hop
	for at := end; round >= 0; round-- {
		if h := via[round][at]; h.from != h.to {
			chain = append(chain, h)
			at = h.from
		}
	}
	slices.Reverse(chain)
	return chain
}

// reach returns by member the least cost at which it may be given a slot of "from",
// MaxInt where none costs "most" or less. As in find, exchanges that cost less than a
// move are looked for where something moves anyway.
func (m *mover) reach(most, from int) []int {
	least := slices.Repeat([]int{math.MaxInt}, len(m.members))
	consider := func(slot, to int) {
		if least[to] > -1 && m.mayGive(slot, from, to) {
			if cost := m.cost(slot, from, to); cost <= most {
				least[to] = min(least[to], cost)
			}
		}
	}
	slots := m.gained[from]
	if most == 1 {
		slots = m.held[from]
	}
	for _, slot := range slots {
		for to := range m.members {
			consider(slot, to)
		}
	}
	for to, lost := range m.lost {
		for _, slot := range lost {
			consider(slot, to)
		}
	}
	return least
}
