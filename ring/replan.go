package ring

import (
	"fmt"
	"slices"
)

// Replan computes who is to hold each slot after a change, from who holds it now:
// present[slot] lists member IDs, the preferred home first. c is the cluster after
// the change; an ID that it does not have gives its slots away. A member that takes
// another's place does so for nothing if its ID is put in the other's place in
// present before. The result belongs to the caller, and present stays as it is.
//
// Plan makes the first assignment, Replan all later ones: it leaves replicas where
// they are, and moves only what has to. A replica has to move if its member leaves,
// if the slot has too many in its rack, or if it takes that to bring every member
// within 5 % of its fair share (or next to it where that is finer than a slot). The
// number that move is at most 1.05 times the least with which all this is possible
// (TestReplan), in nearly all cases the least itself. Who gains the
// share of a newcomer gets 95 % of it, for that costs least.
//
// Homes stay where they are, too, or go to who takes the former home's place; then
// as few as possible are exchanged within slots to bring every member's within 10 %
// of its fair share.
//
// It returns the error of c.Validate, or one that wraps ErrInvalid if present has
// not a list for every slot. The same input gives the same result on every machine.
// Planning takes less than a second of CPU time for 1,000 members.
func Replan(present [][]uint16, c Cluster) ([][]uint16, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	if len(present) != Slots {
		return nil, fmt.Errorf("%w: an assignment of %d slots, want %d", ErrInvalid, len(present), Slots)
	}
	m := newMover(present, c)
	m.keep()
	m.fill()
	m.balance()
	target := m.ordered(present)
	m.balanceHomes(target, present)
	return m.ids(target), nil
}

// mover is the state of one Replan. Members are known by their index in the order
// of their names.
type mover struct {
	members []Member
	index   map[uint16]int // by ID
	width   int
	layout  layout
	share   []float64 // fair share of replicas, by member
	home    []float64 // fair share of homes, by member

	before [Slots][]int // who holds the slot and is in the cluster
	now    [Slots][]int // who is to hold it, in any order
	load   []int
	bounds bounds

	// Where to look for exchanges, by member. All three lists may name slots for
	// which it is not so any more: whoever reads them looks.
	held   [][]int // slots that it is to hold
	next   []int   // where in held to look next
	gained [][]int // of these, slots that it does not hold before
	lost   [][]int // slots that it holds before and is not to hold
}

// bounds is how many slots each member should have, by member.
type bounds struct{ low, high []int }

func newBounds(shares []float64, tolerance float64) bounds {
	b := newBalancer(shares, tolerance)
	return bounds{b.low, b.high}
}

func newMover(present [][]uint16, c Cluster) *mover {
	m := &mover{members: c.sorted(), width: c.Replicas, index: make(map[uint16]int, len(c.Members))}
	for i, member := range m.members {
		m.index[member.ID] = i
	}
	m.layout = newLayout(m.members, m.width)
	m.share, m.home = m.layout.shares(m.members)
	m.bounds = newBounds(m.share, tolerance)
	n := len(m.members)
	m.next = make([]int, n)
	m.load, m.held, m.gained, m.lost = make([]int, n), make([][]int, n), make([][]int, n), make([][]int, n)
	backing := make([]int, 0, Slots*(m.width+MaxReplicas))
	for slot, ids := range present {
		start := len(backing)
		for _, id := range ids {
			if i, ok := m.index[id]; ok && !slices.Contains(backing[start:], i) {
				backing = append(backing, i)
				m.load[i]++
			}
		}
		m.before[slot] = backing[start:len(backing):len(backing)]
		start = len(backing)
		backing = append(backing, make([]int, m.width)...)
		m.now[slot] = backing[start:start:len(backing)]
	}
	return m
}

// keep lets every slot keep as many of its replicas as racks and width allow. Where
// it has to choose it keeps those of members that have the least of their share.
func (m *mover) keep() {
	for slot, before := range m.before {
		order := before
		if !m.fits(before) {
			order = slices.Clone(before)
			slices.SortStableFunc(order, m.fuller)
		}
		for _, i := range order {
			if len(m.now[slot]) < m.width && m.layout.allows(m.now[slot], i) {
				m.take(slot, i)
			} else {
				m.load[i]--
				m.lost[i] = append(m.lost[i], slot)
			}
		}
	}
}

// fits reports whether a slot may have all the members.
func (m *mover) fits(chosen []int) bool {
	if len(chosen) > m.width {
		return false
	}
	for k, i := range chosen {
		if !m.layout.allows(chosen[:k], i) {
			return false
		}
	}
	return true
}

func (m *mover) take(slot, i int) {
	m.now[slot] = append(m.now[slot], i)
	m.note(slot, i)
}

// note enters in the lists that the slot has the member now.
func (m *mover) note(slot, i int) {
	m.held[i] = append(m.held[i], slot)
	if !slices.Contains(m.before[slot], i) {
		m.gained[i] = append(m.gained[i], slot)
	}
}

// fuller orders members by how much of their share they have, the least first.
func (m *mover) fuller(a, b int) int {
	// No sum of products: Go may fuse it on some processors, which rounds differently.
	left, right := float64(m.load[a])*m.share[b], float64(m.load[b])*m.share[a]
	switch {
	case left < right:
		return -1
	case left > right:
		return 1
	}
	return a - b
}

func (m *mover) ids(target [][]int) [][]uint16 {
	ids := make([][]uint16, Slots)
	backing := make([]uint16, 0, Slots*m.width)
	for slot, chosen := range target {
		start := len(backing)
		for _, i := range chosen {
			backing = append(backing, m.members[i].ID)
		}
		ids[slot] = backing[start:len(backing):len(backing)]
	}
	return ids
}
