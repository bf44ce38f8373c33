package consensus

import (
	"cmp"
	"slices"
)

// MaxVoters is how many nodes vote at most.
const MaxVoters = 5

// size returns how many of so many members vote: an odd number, because an even one costs a voter more and tolerates no failure more; but two of two,
// so that both have what was decided.
func size(members int) int {
	switch {
	case members <= 2:
		return members
	case members < MaxVoters:
		return 3
	}
	return MaxVoters
}

// Choose returns who should vote: of up to five members one in each rack where that is possible, those that vote already before others, and
// nobody who is not alive while others are. A voter that is not among the candidates has left the ring, and votes no longer. A node that is not alive and
// does not vote yet is not chosen. The result is sorted, and the same for the same arguments in any order.
func Choose(voters []uint64, candidates []Candidate) []uint64 {
	votes := func(c Candidate) bool { return slices.Contains(voters, c.ID) }
	left := slices.DeleteFunc(slices.Clone(candidates), func(c Candidate) bool { return !c.Alive && !votes(c) })
	inRack := map[string]int{}
	var chosen []uint64
	for n := size(len(candidates)); len(chosen) < n && len(left) > 0; {
		best := slices.MinFunc(left, func(a, b Candidate) int {
			return cmp.Or(
				-compareBool(a.Alive, b.Alive),
				cmp.Compare(inRack[a.Rack], inRack[b.Rack]),
				-compareBool(votes(a), votes(b)),
				cmp.Compare(a.Name, b.Name), cmp.Compare(a.ID, b.ID),
			)
		})
		chosen = append(chosen, best.ID)
		inRack[best.Rack]++
		left = slices.DeleteFunc(left, func(c Candidate) bool { return c.ID == best.ID })
	}
	slices.Sort(chosen)
	return chosen
}

// compareBool orders false before true.
func compareBool(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
