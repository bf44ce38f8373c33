package change

import (
	"fmt"
	"slices"

	"github.com/quolldb/quoll/ring"
)

// Rejoin says that a member came back without its state, as a new generation. Its new
// life takes the place of the old one in every slot, in its own time: that is part of
// the plan under way, or a plan of its own. Addresses may be new; rack and weight are
// what they were.
type Rejoin struct {
	Name       string `json:"name"`
	Generation uint64 `json:"generation"`
	// Was is the generation of the life whose place it takes. So an entry that comes
	// late, or a second process of that name, takes no later life's place.
	Was    uint64 `json:"was"`
	Peer   string `json:"peer"`
	Gossip string `json:"gossip,omitempty"`
}

func (r *Rejoin) apply(e *edit) error {
	old, found := e.ByName(r.Name)
	switch {
	case !found:
		return fmt.Errorf("%q: %w", r.Name, ErrUnknown)
	case old.Generation == r.Generation:
		return fmt.Errorf("%s: %w", r.Name, ErrNothing)
	case old.Generation != r.Was:
		return fmt.Errorf("%s: %w", r.Name, ErrOtherLife)
	case len(e.Members) >= maxLives:
		return ErrFull
	}
	m := old.Member
	m.Generation, m.Peer, m.Gossip = r.Generation, r.Peer, r.Gossip
	if old.State == Waiting {
		return (&Join{m}).apply(e)
	}
	state := old.State
	if state == Active {
		state = Joining
	}
	i, _ := e.at(old.ID)
	e.members()[i].State = Lost
	life, err := e.enter(m, state)
	if err != nil {
		return err
	}
	e.replaceLife(old.ID, life.ID)
	e.note("%s lost its state and takes its place again", r.Name)
	return nil
}

// replaceLife puts a life in the place of another that is lost, in the goal of every
// slot, and gives up what the other was collecting. If the other holds nothing it is
// forgotten: else who loses its state again and again before the plan is over, or while
// it can't go on, would fill the document.
func (e *edit) replaceLife(old, life uint16) {
	p := e.moving()
	moves := make([]Move, 0, len(p.Moves))
	for slot := range uint16(ring.Slots) {
		m := Move{slot, e.Slots[slot].Replicas, e.Slots[slot].Replicas}
		i, planned := p.move(slot)
		if planned {
			m = p.Moves[i]
		}
		m.From, m.To = substitute(m.From, old, life), substitute(m.To, old, life)
		if planned || !slices.Equal(m.To, e.Slots[slot].Replicas) {
			moves = append(moves, m)
		}
	}
	p.Moves, p.MovesAt = moves, e.Version
	e.giveUp(func(p Progress) bool { return slices.Contains(p.Waiting, old) || slices.Contains(p.Done, old) })
	if !slices.ContainsFunc(e.Slots, func(a ring.Assignment) bool { return slices.Contains(a.Replicas, old) }) {
		e.forget(old)
	}
}

// moving returns the plan, a new one if there is none.
func (e *edit) moving() *Plan {
	if e.Plan == nil {
		e.Plan = &Plan{ID: fmt.Sprintf("rejoin-%d", e.Version), Since: e.Version, At: e.now, By: e.by}
	}
	return e.plan()
}

// substitute returns ids with one in the place of another. It does not change ids.
func substitute(ids []uint16, old, life uint16) []uint16 {
	if i := slices.Index(ids, old); i >= 0 {
		ids = slices.Clone(ids)
		ids[i] = life
	}
	return ids
}
