package change

import (
	"fmt"
	"slices"
)

// Plan is what is under way: a goal for every slot that moves. How far it is follows
// from the slots: one that has its goal's replicas has arrived.
type Plan struct {
	// ID is what an operator commits and aborts it by. A plan that a member's return
	// began has one that says so.
	ID string
	// Since is the version in which the plan was committed, At when, and By whom.
	Since uint64
	At    int64
	By    string
	// Changes are the staged changes that were committed. Undo gives back the weights,
	// racks and replicas that there were before.
	Changes, Undo []Staged
	// Aborting says that the goal is the ring before the plan; LossAccepted that there
	// is no way back there.
	Aborting, LossAccepted bool
	// Moves are ordered by slot, and changed last in version MovesAt.
	Moves   []Move
	MovesAt uint64
}

// Move is what a plan means for a slot: who held it before and who is to hold it, the
// home first.
type Move struct {
	Slot     uint16
	From, To []uint16
}

// goal returns who is to hold the slot of a move, as things are.
func (p *Plan) goal(m Move) []uint16 {
	if p.Aborting {
		return m.From
	}
	return m.To
}

// move returns where in Moves the slot is, or would be.
func (p *Plan) move(slot uint16) (int, bool) {
	return slices.BinarySearchFunc(p.Moves, slot, func(m Move, slot uint16) int { return int(m.Slot) - int(slot) })
}

// Goal returns who is to hold the slot: what the plan under way says, or who holds it.
func (d Document) Goal(slot uint16) []uint16 {
	if d.Plan != nil {
		if i, ok := d.Plan.move(slot); ok {
			return d.Plan.goal(d.Plan.Moves[i])
		}
	}
	return d.Slots[slot].Replicas
}

// Left returns the moves of the plan that have yet to be made: from who holds the slot
// now to who is to hold it.
func (d Document) Left() []Move {
	if d.Plan == nil {
		return nil
	}
	var left []Move
	for _, m := range d.Plan.Moves {
		if a, to := d.Slots[m.Slot], d.Plan.goal(m); a.Next != nil || !slices.Equal(a.Replicas, to) {
			left = append(left, Move{m.Slot, a.Replicas, to})
		}
	}
	return left
}

// Arrived returns how many slots of the plan are where they should be, of how many.
func (d Document) Arrived() (arrived, of int) {
	if d.Plan == nil {
		return 0, 0
	}
	for _, m := range d.Plan.Moves {
		if a := d.Slots[m.Slot]; a.Next == nil && slices.Equal(a.Replicas, d.Plan.goal(m)) {
			arrived++
		}
	}
	return arrived, len(d.Plan.Moves)
}

// Kind is what a staged change does.
type Kind uint8

// The kinds of staged changes.
const (
	JoinMember    Kind = iota + 1 // Name, which waits, becomes a member
	LeaveMember                   // Name leaves
	ReplaceMember                 // Name leaves, and By, which waits, takes its place and weight
	SetWeight                     // Name gets the weight Number
	SetRack                       // Name is in rack By, "" for none
	SetReplicas                   // each slot has Number replicas
)

var kindNames = []string{"invalid", "join", "leave", "replace", "weight", "rack", "replicas"}

func (k Kind) String() string {
	if int(k) >= len(kindNames) {
		k = 0
	}
	return kindNames[k]
}

// MarshalText makes a kind the word that an operator uses for it.
func (k Kind) MarshalText() ([]byte, error) { return []byte(k.String()), nil }

// UnmarshalText takes what MarshalText gives. Any other word is an error: it may be a
// kind of a later version.
func (k *Kind) UnmarshalText(text []byte) error {
	i := slices.Index(kindNames, string(text))
	if i < 1 {
		return fmt.Errorf("%q is no kind of change", text)
	}
	*k = Kind(i)
	return nil
}

// Staged is a change that an operator has staged. Which fields matter depends on
// the kind.
type Staged struct {
	Kind   Kind   `json:"kind"`
	Name   string `json:"name,omitempty"`
	By     string `json:"by,omitempty"`
	Number int    `json:"number,omitempty"`
}

// String writes the change as an operator stages it.
func (s Staged) String() string {
	switch s.Kind {
	case ReplaceMember:
		return fmt.Sprintf("%s %s %s", s.Kind, s.Name, s.By)
	case SetWeight:
		return fmt.Sprintf("%s %s %d", s.Kind, s.Name, s.Number)
	case SetRack:
		return fmt.Sprintf("%s %s %q", s.Kind, s.Name, s.By)
	case SetReplicas:
		return fmt.Sprintf("%s %d", s.Kind, s.Number)
	}
	return fmt.Sprintf("%s %s", s.Kind, s.Name)
}
