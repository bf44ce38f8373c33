package change

import (
	"fmt"
	"slices"

	"github.com/quolldb/quoll/ring"
)

// Begin makes slots joint that the plan moves: a wave. NextWave chooses them. Slots that
// need no joint epoch have moved with that.
type Begin struct {
	Plan  string   `json:"plan"`
	Slots []uint16 `json:"slots"`
}

func (b *Begin) apply(e *edit) error {
	switch {
	case e.Plan == nil:
		return ErrNoPlan
	case b.Plan != e.Plan.ID:
		return fmt.Errorf("%s: %w", b.Plan, ErrOtherPlan)
	case e.Paused:
		return ErrPaused
	case len(b.Slots) == 0:
		return ErrNothing
	}
	e.Joint = slices.Clone(e.Joint)
	for _, slot := range b.Slots {
		if int(slot) >= ring.Slots || !e.canBegin(slot) {
			return fmt.Errorf("slot %d: %w", slot, ErrStale)
		}
		goal := e.Goal(slot)
		a := e.slot(slot)
		collectors := Collectors(a.Replicas, goal)
		if len(collectors) == 0 {
			a.Replicas = goal
			continue
		}
		a.Next = goal
		e.Joint = append(e.Joint, Progress{Slot: slot, Waiting: collectors})
	}
	slices.SortFunc(e.Joint, func(a, b Progress) int { return int(a.Slot) - int(b.Slot) })
	return nil
}

// canBegin reports whether the slot has yet to move, and does not.
func (d Document) canBegin(slot uint16) bool {
	a := d.Slots[slot]
	return a.Next == nil && !slices.Equal(a.Replicas, d.Goal(slot))
}

// Collectors returns who collects a slot that moves (R18): all that join, and all that
// stay unless the new members carry (R16). It is empty if the slot needs no joint
// epoch: nobody joins, and the new members carry.
func Collectors(from, to []uint16) []uint16 {
	var join, stay []uint16
	for _, id := range to {
		if slices.Contains(from, id) {
			stay = append(stay, id)
		} else {
			join = append(join, id)
		}
	}
	if collected(from, to, join) {
		return join
	}
	return append(join, stay...)
}

// collected reports whether a slot's new members may have it to themselves when these of
// them have collected it (R18.6): all that join have, and the new members carry, if each
// of these counts as one that leaves and one that joins.
func collected(from, to, done []uint16) bool {
	leave, join := len(from), len(done)
	for _, id := range to {
		switch {
		case slices.Contains(done, id):
		case !slices.Contains(from, id):
			return false
		default:
			leave--
		}
	}
	return max(0, majority(from)-leave)+join >= majority(to)
}

// Complete says that a member has collected slots: all that R18 asks for is durable.
type Complete struct {
	Member uint16 `json:"member"`
	// Slots are pairs of a slot and the epoch in which it is joint. A pair that is not
	// so any more is passed over.
	Slots []SlotEpoch `json:"slots"`
}

// SlotEpoch is a slot in one of its epochs.
type SlotEpoch struct {
	Slot  uint16 `json:"slot"`
	Epoch uint64 `json:"epoch"`
}

func (c *Complete) apply(e *edit) error {
	e.Joint = slices.Clone(e.Joint)
	done := 0
	for _, s := range c.Slots {
		i, joint := e.progress(s.Slot)
		if !joint || e.Slots[s.Slot].Epoch != s.Epoch {
			continue
		}
		p := &e.Joint[i]
		at := slices.Index(p.Waiting, c.Member)
		if at < 0 {
			continue
		}
		done++
		p.Waiting = slices.Delete(slices.Clone(p.Waiting), at, at+1)
		p.Done = append(slices.Clone(p.Done), c.Member)
		if a := e.Slots[s.Slot]; collected(a.Replicas, a.Next, p.Done) {
			a := e.slot(s.Slot)
			a.Replicas, a.Next = a.Next, nil
		}
	}
	if done == 0 {
		return ErrStale
	}
	e.Joint = slices.DeleteFunc(e.Joint, func(p Progress) bool { return e.Slots[p.Slot].Next == nil })
	return nil
}

// giveUp gives joint slots back to their old members: those for which wrong says so.
// All that was acknowledged while they were joint a majority of these has, for quorums
// were double (R16, R18.7).
func (e *edit) giveUp(wrong func(Progress) bool) {
	e.Joint = slices.DeleteFunc(slices.Clone(e.Joint), func(p Progress) bool {
		if !wrong(p) {
			return false
		}
		e.slot(p.Slot).Next = nil
		return true
	})
}

// giveUpOthers gives up the joint slots that go where they should not go any more.
func (e *edit) giveUpOthers() {
	e.giveUp(func(p Progress) bool { return !slices.Equal(e.Slots[p.Slot].Next, e.Goal(p.Slot)) })
}

// finish ends the plan if every slot is where it should be.
func (e *edit) finish() {
	p := e.Plan
	if arrived, of := e.Arrived(); p == nil || arrived < of || len(e.Joint) > 0 {
		return
	}
	e.Plan = nil
	if p.Aborting {
		for _, s := range p.Undo {
			e.restore(s)
		}
	}
	var left []Life
	for _, l := range e.members() {
		if stays := e.settle(&l, p); stays {
			left = append(left, l)
		}
	}
	e.Members = left
	if p.Aborting {
		e.note("plan %s is undone", p.ID)
	} else {
		e.note("plan %s is done", p.ID)
	}
}

// settle gives a life the state that it has after the plan, and reports whether it
// has any.
func (e *edit) settle(l *Life, p *Plan) bool {
	switch {
	case l.State == Lost, l.State == Leaving && !p.Aborting:
		return false
	case p.Aborting && slices.ContainsFunc(p.Changes, func(s Staged) bool { return s.joins(l.Name) }):
		l.State = Waiting
	case l.State != Waiting:
		l.State = Active
	}
	return true
}

func (s Staged) joins(name string) bool {
	return s.Kind == JoinMember && s.Name == name || s.Kind == ReplaceMember && s.By == name
}

// restore gives back a weight, a rack, or the replicas.
func (e *edit) restore(s Staged) {
	if s.Kind == SetReplicas {
		e.Replicas = s.Number
	}
	for i := range e.members() {
		switch l := &e.Members[i]; {
		case l.Name != s.Name || l.State == Lost:
		case s.Kind == SetWeight:
			l.Weight = s.Number
		case s.Kind == SetRack:
			l.Rack = s.By
		}
	}
}
