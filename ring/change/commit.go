package change

import (
	"fmt"
	"slices"

	"github.com/quolldb/quoll/ring"
)

// maxID bounds the length of a plan's ID.
const maxID = 32

// Propose works out what the staged changes mean: the commit that makes a plan of
// them. The planner runs here, once, and its result is part of the entry. So all who
// apply it agree, whatever version they are of. The same document gives the same ID
// as long as the planner is the same; what is proposed is refused if the slots, or
// what is staged, have changed meanwhile. Committing it is up to the caller, who
// may look at it first: Preview and Check.
func Propose(d Document) (*Commit, error) {
	if err := d.checkCommit(); err != nil {
		return nil, err
	}
	cluster, places, err := d.Target()
	if err != nil {
		return nil, err
	}
	present := make([][]uint16, len(d.Slots))
	for slot := range present {
		present[slot] = d.Goal(uint16(slot))
		for old, by := range places {
			present[slot] = substitute(present[slot], old, by)
		}
	}
	target, err := ring.Replan(present, cluster)
	if err != nil {
		return nil, err
	}
	var moves []Move
	for slot, to := range target {
		m := Move{uint16(slot), d.Goal(uint16(slot)), to}
		if !slices.Equal(m.From, to) || d.isMoving(m.Slot) {
			moves = append(moves, m)
		}
	}
	c := &Commit{Moves: encodeMoves(moves)}
	c.ID = d.planID(c.Moves)
	return c, nil
}

// checkCommit says why nothing can be committed now.
func (d Document) checkCommit() error {
	switch {
	case d.Plan != nil && d.Plan.Aborting:
		return fmt.Errorf("%w (%s)", ErrAborting, d.Plan.ID)
	case len(d.Staged) == 0:
		return ErrNothingStaged
	}
	return nil
}

// isMoving reports whether the slot is on its way, or has yet to go.
func (d Document) isMoving(slot uint16) bool { return d.Slots[slot].Next != nil || d.canBegin(slot) }

// Commit makes the staged changes the plan under way. Propose makes one. A plan that is
// under way already becomes part of it: that is how a member is replaced that dies for
// good while slots are on their way to it. An abort then leads back to the ring before
// both.
type Commit struct {
	ID string `json:"id"`
	// Moves says which slots move, as a document encodes it.
	Moves []byte `json:"moves"`
}

// planID is a digest of what is staged, since when, and what it means. So no two plans
// have the same.
func (d Document) planID(moves []byte) string {
	w := newWriter()
	w.numbers(d.StagedAt)
	w.staged(d.Staged)
	return fmt.Sprintf("%08x", uint32(hash(append(w.b, moves...))))
}

func encodeMoves(moves []Move) []byte {
	w := newWriter()
	w.moves(moves)
	return w.b
}

// Decode returns the moves, ordered by slot.
func (c *Commit) Decode() ([]Move, error) {
	r := &reader{b: c.Moves}
	moves := r.moves()
	if r.bad || len(r.b) > 0 {
		return nil, fmt.Errorf("%w: the moves of plan %s", ErrEncoding, c.ID)
	}
	return moves, nil
}

func (c *Commit) apply(e *edit) error {
	moves, err := c.Decode()
	if err != nil {
		return err
	}
	if err := e.checkCommit(); err != nil {
		return err
	}
	if c.ID != e.planID(c.Moves) {
		return fmt.Errorf("%s: %w", c.ID, ErrOtherPlan)
	}
	cluster, _, err := e.Target()
	if err != nil {
		return err
	}
	if err := e.checkMoves(moves, cluster); err != nil {
		return err
	}
	p := e.planned(c.ID, moves)
	if len(p.Changes) > MaxStaged {
		return ErrFull
	}
	e.note("commits plan %s: %s", p.ID, describe(e.Staged))
	e.Members, e.Replicas = e.staged()
	e.ownMembers, e.MembersAt = true, e.Version
	e.Plan = p
	e.stage(nil)
	e.giveUpOthers()
	return nil
}

// planned returns the plan of what is staged, and of the one under way.
func (e *edit) planned(id string, moves []Move) *Plan {
	p := &Plan{ID: id, Since: e.Version, At: e.now, By: e.by, Changes: e.Staged, Undo: e.undo(), Moves: moves, MovesAt: e.Version}
	before := e.Plan
	if before == nil {
		return p
	}
	p.LossAccepted = before.LossAccepted
	p.Changes = slices.Concat(before.Changes, p.Changes)
	p.Undo = slices.Concat(before.Undo, slices.DeleteFunc(p.Undo, func(s Staged) bool {
		return slices.ContainsFunc(before.Undo, func(first Staged) bool { return first.Kind == s.Kind && first.Name == s.Name })
	}))
	p.Moves = slices.Clone(before.Moves)
	for _, m := range moves {
		if i, ok := before.move(m.Slot); ok {
			p.Moves[i].To = m.To
		} else {
			p.Moves = append(p.Moves, m)
		}
	}
	slices.SortFunc(p.Moves, func(a, b Move) int { return int(a.Slot) - int(b.Slot) })
	return p
}

// checkMoves makes sure that after the moves every slot is held as the target says,
// whoever planned them.
func (d Document) checkMoves(moves []Move, c ring.Cluster) error {
	members := make(map[uint16]bool, len(c.Members))
	for _, m := range c.Members {
		members[m.ID] = true
	}
	for slot := range uint16(ring.Slots) {
		to := d.Goal(slot)
		planned := len(moves) > 0 && moves[0].Slot == slot
		if planned && !slices.Equal(moves[0].From, to) || !planned && d.isMoving(slot) {
			return fmt.Errorf("slot %d: %w", slot, ErrOtherPlan)
		}
		if planned {
			to, moves = moves[0].To, moves[1:]
		}
		if len(to) != c.Replicas {
			return fmt.Errorf("%w: slot %d would be held by %v", ErrImpossible, slot, to)
		}
		for i, id := range to {
			if !members[id] || slices.Contains(to[:i], id) {
				return fmt.Errorf("%w: slot %d would be held by %v", ErrImpossible, slot, to)
			}
		}
	}
	if len(moves) > 0 {
		return fmt.Errorf("%w: the moves are not in order", ErrImpossible)
	}
	return nil
}

// undo returns the changes that give back the weights, racks and replicas.
func (d Document) undo() []Staged {
	var undo []Staged
	lives, replicas := d.staged()
	for i, l := range d.Members {
		if l.State == Lost {
			continue
		}
		if lives[i].Weight != l.Weight {
			undo = append(undo, Staged{Kind: SetWeight, Name: l.Name, Number: l.Weight})
		}
		if lives[i].Rack != l.Rack {
			undo = append(undo, Staged{Kind: SetRack, Name: l.Name, By: l.Rack})
		}
	}
	if replicas != d.Replicas {
		undo = append(undo, Staged{Kind: SetReplicas, Number: d.Replicas})
	}
	return undo
}

func describe(staged []Staged) string {
	text := ""
	for i, s := range staged {
		if i > 0 {
			text += ", "
		}
		text += s.String()
	}
	return text
}
