package change

import (
	"errors"
	"fmt"
	"slices"
	"strings"
)

// Check says why slots can't move while things are as they are: too few of their
// present members are alive, so nobody can tell what they hold. It wraps ErrLoss, with
// a line for each group of slots, the largest first; it is nil if all can. Ask before a
// commit, with its moves, or later, with those that are Left.
func Check(d Document, moves []Move, alive func(id uint16) bool) error {
	type group struct {
		live, dead []uint16
		slots      int
	}
	var groups []*group
	byHolders := make(map[string]*group)
	living := func(ids []uint16) (n int) {
		for _, id := range ids {
			if d.isAlive(id, alive) {
				n++
			}
		}
		return n
	}
	for _, m := range moves {
		from := d.Slots[m.Slot].Replicas
		if living(from) >= majority(from) {
			continue
		}
		g := &group{}
		for _, id := range slices.Sorted(slices.Values(from)) {
			if d.isAlive(id, alive) {
				g.live = append(g.live, id)
			} else {
				g.dead = append(g.dead, id)
			}
		}
		key := fmt.Sprint(g.live, g.dead)
		if len(g.live) == 1 {
			key = fmt.Sprint(g.live) // whoever the others were
		}
		if known := byHolders[key]; known == nil {
			byHolders[key] = g
			groups = append(groups, g)
		} else {
			known.dead = union(known.dead, g.dead)
		}
		byHolders[key].slots++
	}
	slices.SortStableFunc(groups, func(a, b *group) int { return b.slots - a.slots })
	var lines []error
	for _, g := range groups {
		lines = append(lines, fmt.Errorf("%w: %s %d slots: they stay where they are until enough of %s are back; if they are gone for good, plan their replacement "+
			"and accept the loss of data", ErrLoss, d.holders(g.live), g.slots, d.names(g.dead)))
	}
	return errors.Join(lines...)
}

func union(a, b []uint16) []uint16 {
	all := slices.Concat(a, b)
	slices.Sort(all)
	return slices.Compact(all)
}

func (d Document) holders(live []uint16) string {
	switch len(live) {
	case 0:
		return "no live member holds"
	case 1:
		return d.name(live[0]) + " is the only live holder of"
	}
	return "only " + d.names(live) + " are alive of the holders of"
}

// names lists members' names, not more than can be read.
func (d Document) names(ids []uint16) string {
	var names []string
	for _, id := range ids {
		if len(names) == 5 {
			return fmt.Sprintf("%s and %d more", strings.Join(names, ", "), len(ids)-5)
		}
		if name := d.name(id); !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return strings.Join(names, ", ")
}
