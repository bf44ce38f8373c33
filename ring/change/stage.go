package change

import (
	"fmt"
	"slices"

	"github.com/quolldb/quoll/ring"
)

func (s *Staged) apply(e *edit) error {
	if err := s.check(); err != nil {
		return err
	}
	if err := e.checkStaged(*s); err != nil {
		return fmt.Errorf("%s: %w", s, err)
	}
	staged := slices.DeleteFunc(slices.Clone(e.Staged), func(other Staged) bool { return other.Kind == s.Kind && other.Name == s.Name })
	if len(staged) == MaxStaged {
		return ErrFull
	}
	e.stage(append(staged, *s))
	e.note("stages %s", s)
	return nil
}

// checkStaged says why a change can't be staged.
func (d Document) checkStaged(s Staged) error {
	if s.Kind == SetReplicas {
		return nil
	}
	l, found := d.ByName(s.Name)
	if !found {
		return fmt.Errorf("%q: %w", s.Name, ErrUnknown)
	}
	switch s.Kind {
	case JoinMember:
		if l.State != Waiting {
			return fmt.Errorf("%s: %w", s.Name, ErrNotWaiting)
		}
	case LeaveMember, ReplaceMember:
		if l.State == Waiting {
			return fmt.Errorf("%s: %w", s.Name, ErrNotMember)
		}
	case SetRack:
		l.Rack = s.By
		if err := (&edit{Document: Document{Cluster: d.Cluster}}).checkEntered(l.Member); err != nil {
			return err
		}
	}
	if s.Kind == ReplaceMember {
		if by, found := d.ByName(s.By); !found {
			return fmt.Errorf("%q: %w", s.By, ErrUnknown)
		} else if by.State != Waiting {
			return fmt.Errorf("%s: %w", s.By, ErrNotWaiting)
		}
	}
	for _, other := range d.Staged {
		if s.contradicts(other) {
			return fmt.Errorf("%s: %w", other, ErrStagedAlready)
		}
	}
	return nil
}

// contradicts reports whether the two decide both whether a member is in the ring.
func (s Staged) contradicts(other Staged) bool {
	decides := func(k Kind) bool { return k == JoinMember || k == LeaveMember || k == ReplaceMember }
	if !decides(s.Kind) || !decides(other.Kind) || s == other {
		return false
	}
	return s.about(other.Name) || other.Kind == ReplaceMember && s.about(other.By)
}

// Unstage clears what is staged for a member, or all of it if the name is empty.
type Unstage struct {
	Name string `json:"name,omitempty"`
}

func (u *Unstage) apply(e *edit) error {
	left := slices.DeleteFunc(slices.Clone(e.Staged), func(s Staged) bool { return u.Name == "" || s.about(u.Name) })
	if len(left) == len(e.Staged) {
		return ErrNothingStaged
	}
	e.stage(left)
	e.note("clears %d staged changes", len(e.Staged)-len(left)+1)
	return nil
}

// Target returns the cluster that the staged changes lead to, and who takes whose
// place in it.
func (d Document) Target() (c ring.Cluster, places map[uint16]uint16, err error) {
	lives, replicas := d.staged()
	c = ring.Cluster{Name: d.Cluster, Epoch: d.Version + 1, Replicas: replicas}
	for _, l := range lives {
		if l.State == Active || l.State == Joining {
			c.Members = append(c.Members, l.Member)
		}
	}
	places = make(map[uint16]uint16)
	for _, s := range d.Staged {
		if err := d.checkStaged(s); err != nil { // what it was staged for has changed
			return c, nil, fmt.Errorf("%s: %w", s, err)
		}
		if s.Kind == ReplaceMember {
			old, _ := d.ByName(s.Name)
			by, _ := d.ByName(s.By)
			places[old.ID] = by.ID
		}
	}
	return c, places, c.Validate()
}

// staged returns the lives as they are while the staged changes are under way, and the
// replicas of a slot.
func (d Document) staged() (lives []Life, replicas int) {
	lives, replicas = slices.Clone(d.Members), d.Replicas
	find := func(name string) *Life {
		l, found := d.ByName(name)
		if !found {
			return &Life{}
		}
		i, _ := d.at(l.ID)
		return &lives[i]
	}
	for _, s := range d.Staged {
		switch s.Kind {
		case JoinMember:
			find(s.Name).State = Joining
		case LeaveMember:
			find(s.Name).State = Leaving
		case ReplaceMember:
			old, by := find(s.Name), find(s.By)
			old.State, by.State, by.Weight = Leaving, Joining, old.Weight
		}
	}
	for _, s := range d.Staged { // after who is replaced gave its weight
		switch s.Kind {
		case SetWeight:
			find(s.Name).Weight = s.Number
		case SetRack:
			find(s.Name).Rack = s.By
		case SetReplicas:
			replicas = s.Number
		}
	}
	return lives, replicas
}
