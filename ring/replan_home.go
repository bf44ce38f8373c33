package ring

import "slices"

// homeTolerance is how far a member's number of homes may be from its fair share
// after a Replan. Homes hold no data of their own, but to move one costs its slot a
// change of its own, which is why the bounds are wider than those of replicas.
const homeTolerance = 0.10

// ordered puts the replicas of each slot in order: who stays keeps its place, who
// comes takes the place of one that leaves.
func (m *mover) ordered(present [][]uint16) [][]int {
	target := make([][]int, Slots)
	for slot, ids := range present {
		now := m.now[slot]
		var come []int
		for _, i := range now {
			if !slices.Contains(m.before[slot], i) {
				come = append(come, i)
			}
		}
		list := make([]int, 0, m.width)
		for _, id := range ids {
			if i, ok := m.index[id]; ok && slices.Contains(now, i) && !slices.Contains(list, i) {
				list = append(list, i)
			} else if len(come) > 0 {
				list, come = append(list, come[0]), come[1:]
			}
		}
		target[slot] = append(list, come...)
	}
	return target
}

// balanceHomes exchanges homes within slots until every member's are within bounds.
func (m *mover) balanceHomes(target [][]int, present [][]uint16) {
	b := newBalancer(m.home, homeTolerance)
	for _, list := range target {
		b.load[list[0]]++
	}
	b.exchanges = func(member int, gain bool, yield func(exchange)) {
		for slot, list := range target {
			switch {
			case gain && list[0] != member && slices.Contains(list, member):
				yield(exchange{slot, list[0], member, m.homeRegret(list, present[slot], member)})
			case !gain && list[0] == member:
				for _, to := range list[1:] {
					yield(exchange{slot, member, to, m.homeRegret(list, present[slot], to)})
				}
			}
		}
	}
	b.apply = func(e exchange) {
		list := target[e.slot]
		i := slices.Index(list, e.to)
		list[0], list[i] = list[i], list[0]
	}
	b.run()
}

// homeRegret is what it costs to make the member the home of a slot with the list
// of replicas: most if nothing would change in the slot otherwise.
func (m *mover) homeRegret(list []int, present []uint16, to int) int64 {
	switch {
	case m.members[to].ID == present[0]:
		return -1
	case len(list) == len(present) && !slices.ContainsFunc(list, func(i int) bool { return !slices.Contains(present, m.members[i].ID) }):
		return 1
	}
	return 0
}
