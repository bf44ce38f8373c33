package change

import (
	"fmt"
	"slices"

	"github.com/quolldb/quoll/ring"
)

// AcceptLoss goes on where too few replicas have survived to tell what was
// acknowledged: members are gone for good, and a slot that has lost the majority of its
// replicas with them belongs to those that are left. From there it goes to its goal
// like any other. If none is left it belongs to the first member of its goal alone: what
// that may still hold of the slot, from whenever, is then what there is, and the others
// collect it. Were it all of them at once, one could hold what the others know nothing of.
//
// The plan under way has to take the slots away from these members. There is no way
// back from there.
type AcceptLoss struct {
	// Cluster is the cluster's name: whoever gives it means it.
	Cluster string `json:"cluster"`
	// Gone are the IDs of the members that are gone for good. Those that are lost are,
	// anyway.
	Gone []uint16 `json:"gone"`
}

func (l *AcceptLoss) apply(e *edit) error {
	switch {
	case l.Cluster != e.Cluster:
		return fmt.Errorf("%q: %w", l.Cluster, ErrOtherCluster)
	case e.Plan == nil:
		return ErrNoPlan
	}
	gone := func(id uint16) bool {
		m, _ := e.Member(id)
		return m.State == Lost || slices.Contains(l.Gone, id)
	}
	count := 0
	e.giveUp(func(p Progress) bool { return tooFew(e.Slots[p.Slot].Replicas, gone) })
	for slot := range uint16(ring.Slots) {
		if !tooFew(e.Slots[slot].Replicas, gone) {
			continue
		}
		goal := e.Goal(slot)
		if i := slices.IndexFunc(goal, gone); i >= 0 {
			return fmt.Errorf("%s: %w", e.name(goal[i]), ErrStillHolds)
		}
		left := slices.DeleteFunc(slices.Clone(e.Slots[slot].Replicas), gone)
		if len(left) == 0 {
			left = goal[:1:1]
		}
		e.slot(slot).Replicas = left
		count++
	}
	if count == 0 {
		return ErrNoLoss
	}
	e.plan().LossAccepted = true
	e.note("accepts the loss of what only a majority of the former members of %d slots knew", count)
	return nil
}

// tooFew reports whether fewer than a majority are left.
func tooFew(ids []uint16, gone func(uint16) bool) bool {
	left := len(ids)
	for _, id := range ids {
		if gone(id) {
			left--
		}
	}
	return left < majority(ids)
}

func majority(ids []uint16) int { return len(ids)/2 + 1 }
