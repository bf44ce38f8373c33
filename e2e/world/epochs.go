package world

import (
	"cmp"
	"slices"

	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

// epochs are the assignments of every slot that some node has learned of, and whose lives their members are.
type epochs struct {
	versions map[uint64]bool
	slots    [ring.Slots][]ring.Assignment // in the order of their epochs
	lives    map[uint16]uint64             // generations by member ID
}

func newEpochs() epochs {
	return epochs{versions: map[uint64]bool{}, lives: map[uint16]uint64{}}
}

// add takes up a version of the ring, and returns the slots of which that says something new. Nodes may learn of versions in any order, and not of all of them.
func (e *epochs) add(d change.Document) (changed map[uint16]bool) {
	if e.versions[d.Version] {
		return nil
	}
	changed = map[uint16]bool{}
	e.versions[d.Version] = true
	for _, m := range d.Members {
		e.lives[m.ID] = m.Generation
	}
	for slot, a := range d.Slots {
		at, known := slices.BinarySearchFunc(e.slots[slot], a.Epoch, func(a ring.Assignment, epoch uint64) int { return cmp.Compare(a.Epoch, epoch) })
		if !known {
			e.slots[slot] = slices.Insert(e.slots[slot], at, a)
			changed[uint16(slot)] = true
		}
	}
	return changed
}

// of returns the assignments that a slot has had so far.
func (e *epochs) of(slot uint16) []ring.Assignment { return e.slots[slot] }
