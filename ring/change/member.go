package change

import (
	"fmt"
	"slices"

	"github.com/quolldb/quoll/ring"
)

// Join notes that a node asks to join. It waits until a plan makes it a member. Its ID
// is ignored. From a node that is known with the same generation it brings new
// addresses.
type Join struct{ ring.Member }

func (j *Join) apply(e *edit) error {
	m := j.Member
	known, found := e.ByName(m.Name)
	switch {
	case found && known.Generation != m.Generation && known.State != Waiting:
		return fmt.Errorf("%s: %w", m.Name, ErrNameTaken)
	case found && known.Generation == m.Generation:
		return e.readdress(known, m)
	case found: // it waited, and has lost its state, which is none
		e.forget(known.ID)
	}
	if err := e.checkRoom(); err != nil {
		return err
	}
	if _, err := e.enter(m, Waiting); err != nil {
		return err
	}
	e.note("%s asks to join", m.Name)
	return nil
}

func (e *edit) checkRoom() error {
	n := 0
	for _, l := range e.Members {
		if l.State != Lost {
			n++
		}
	}
	if n >= ring.MaxMembers || len(e.Members) >= maxLives {
		return ErrFull
	}
	return nil
}

// readdress notes where a member is. If another one was there they have changed places, as far as is known: that one says itself where it is.
func (e *edit) readdress(known Life, m ring.Member) error {
	if known.Peer == m.Peer && known.Gossip == m.Gossip {
		return fmt.Errorf("%s: %w", m.Name, ErrNothing)
	}
	for i, l := range e.members() {
		if l.ID == known.ID || l.State == Lost {
			continue
		}
		if l.Peer == m.Peer {
			e.Members[i].Peer = known.Peer
		}
		if l.Gossip != "" && l.Gossip == m.Gossip {
			e.Members[i].Gossip = known.Gossip
		}
	}
	i, _ := e.at(known.ID)
	e.Members[i].Peer, e.Members[i].Gossip = m.Peer, m.Gossip
	e.note("%s is at %s", m.Name, m.Peer)
	return e.checkEntered(m)
}

// enter gives a new life an ID.
func (e *edit) enter(m ring.Member, state State) (Life, error) {
	m.ID = e.newID()
	l := Life{m, state}
	i, _ := e.at(m.ID)
	e.Members = slices.Insert(e.members(), i, l)
	return l, e.checkEntered(m)
}

// newID returns the next ID that nobody in the document has. Slots and the plan name
// only members that are in it.
func (e *edit) newID() uint16 {
	for {
		if e.LastID++; e.LastID == 0 {
			continue
		}
		if _, taken := e.at(e.LastID); !taken {
			return e.LastID
		}
	}
}

// checkEntered returns what is wrong with a member that has come, or has changed.
func (e *edit) checkEntered(m ring.Member) error {
	for _, l := range e.Members {
		if l.State == Lost || l.Name == m.Name {
			continue
		}
		for _, address := range []string{l.Peer, l.Gossip} {
			if address != "" && (address == m.Peer || address == m.Gossip) {
				return fmt.Errorf("%s, %s: %w (%s)", m.Name, address, ErrAddressTaken, l.Name)
			}
		}
	}
	if len(m.Peer) > maxText || len(m.Gossip) > maxText {
		return fmt.Errorf("%w: an address of more than %d bytes", ErrImpossible, maxText)
	}
	if err := (ring.Cluster{Name: e.Cluster, Epoch: 1, Replicas: 1, Members: []ring.Member{{ID: 1, Name: m.Name, Peer: m.Peer, Gossip: m.Gossip,
		Rack: m.Rack, Weight: m.Weight}}}).Validate(); err != nil {
		return fmt.Errorf("%w: %w", ErrImpossible, err)
	}
	return nil
}

func (e *edit) forget(id uint16) {
	e.Members = slices.DeleteFunc(e.members(), func(l Life) bool { return l.ID == id })
}

// Forget lets a node that waits to join go. What is staged for it is cleared.
type Forget struct {
	Name string `json:"name"`
}

func (f *Forget) apply(e *edit) error {
	l, found := e.ByName(f.Name)
	switch {
	case !found:
		return fmt.Errorf("%q: %w", f.Name, ErrUnknown)
	case l.State != Waiting:
		return fmt.Errorf("%s: %w", f.Name, ErrNotWaiting)
	}
	e.forget(l.ID)
	left := slices.DeleteFunc(slices.Clone(e.Staged), func(s Staged) bool { return s.about(f.Name) })
	if len(left) < len(e.Staged) {
		e.stage(left)
	}
	e.note("%s is forgotten", f.Name)
	return nil
}

// about reports whether the change is one of the member.
func (s Staged) about(name string) bool {
	return s.Name == name || s.Kind == ReplaceMember && s.By == name
}
