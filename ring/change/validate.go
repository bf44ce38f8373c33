package change

import (
	"errors"
	"fmt"
	"slices"

	"github.com/quolldb/quoll/ring"
)

// Validate reports the first thing that makes no sense in a document; it wraps
// ring.ErrInvalid. What Apply and Update return is valid.
func (d Document) Validate() error {
	for _, check := range []func() error{d.checkMembers, d.checkSlots, d.checkJoint, d.checkPlan, d.checkRest} {
		if err := check(); err != nil {
			return fmt.Errorf("%w: %w", ring.ErrInvalid, err)
		}
	}
	return nil
}

func (d Document) checkMembers() error {
	cluster := ring.Cluster{Name: d.Cluster, Epoch: d.Version, Replicas: d.Replicas}
	for i, l := range d.Members {
		switch {
		case l.ID == 0 || i > 0 && l.ID <= d.Members[i-1].ID:
			return fmt.Errorf("member %d after member %d", l.ID, d.Members[max(i-1, 0)].ID)
		case l.State < Waiting || l.State > Lost:
			return fmt.Errorf("member %d has the state %d", l.ID, l.State)
		case len(l.Peer) > maxText || len(l.Gossip) > maxText:
			return fmt.Errorf("member %d has an address that is too long", l.ID)
		case l.State != Lost:
			cluster.Members = append(cluster.Members, l.Member)
		case l.Name == "" || len(l.Name) > ring.MaxName || len(l.Rack) > ring.MaxName || l.Weight < 1 || l.Weight > ring.MaxWeight:
			return fmt.Errorf("lost member %d", l.ID)
		}
	}
	if len(d.Members) > maxLives || d.MembersAt > d.Version {
		return fmt.Errorf("%d lives, changed in version %d of %d", len(d.Members), d.MembersAt, d.Version)
	}
	return cluster.Validate()
}

// lives is a set of members. Lists of members are checked for every slot and every move of each version: a search for each member of each list would
// cost more than all else that is done with a version.
type lives [65536 / 64]uint64

func (d Document) lives() *lives {
	var l lives
	for _, m := range d.Members {
		l[m.ID/64] |= 1 << (m.ID % 64)
	}
	return &l
}

func (l *lives) has(id uint16) bool { return l[id/64]&(1<<(id%64)) != 0 }

// check says why a list of members makes no sense.
func (l *lives) check(ids []uint16) error {
	if len(ids) < 1 || len(ids) > ring.MaxReplicas {
		return fmt.Errorf("has %d replicas", len(ids))
	}
	for i, id := range ids {
		if !l.has(id) || slices.Contains(ids[:i], id) {
			return fmt.Errorf("has member %d of %v", id, ids)
		}
	}
	return nil
}

func (d Document) checkSlots() error {
	members, joint := d.lives(), d.Joint
	if len(d.Slots) != ring.Slots {
		return fmt.Errorf("%d slots", len(d.Slots))
	}
	for slot, a := range d.Slots {
		if a.Epoch == 0 || a.Epoch > d.Version {
			return fmt.Errorf("slot %d has epoch %d", slot, a.Epoch)
		}
		if err := members.check(a.Replicas); err != nil {
			return fmt.Errorf("slot %d %w", slot, err)
		}
		listed := len(joint) > 0 && int(joint[0].Slot) == slot
		if listed {
			joint = joint[1:] // they are in order, or checkJoint says so
		}
		if listed != (a.Next != nil) {
			return fmt.Errorf("slot %d is joint: %t, and in the list of those: %t", slot, a.Next != nil, listed)
		}
		if a.Next != nil {
			if err := members.check(a.Next); err != nil {
				return fmt.Errorf("slot %d, next, %w", slot, err)
			}
		}
	}
	return nil
}

func (d Document) checkJoint() error {
	members := d.lives()
	for i, p := range d.Joint {
		if int(p.Slot) >= ring.Slots || i > 0 && p.Slot <= d.Joint[i-1].Slot || len(p.Waiting) == 0 || d.Plan == nil {
			return fmt.Errorf("joint slot %d", p.Slot)
		}
		collectors := slices.Concat(p.Waiting, p.Done)
		if err := members.check(collectors); err != nil {
			return fmt.Errorf("the collectors of slot %d: it %w", p.Slot, err)
		}
		for _, id := range collectors {
			if !slices.Contains(d.Slots[p.Slot].Next, id) {
				return fmt.Errorf("member %d collects slot %d, and does not get it", id, p.Slot)
			}
		}
	}
	return nil
}

func (d Document) checkPlan() error {
	p := d.Plan
	if p == nil {
		return nil
	}
	if p.ID == "" || len(p.ID) > maxID || len(p.By) > maxText || p.Since > d.Version || p.MovesAt > d.Version || p.MovesAt < p.Since {
		return fmt.Errorf("plan %q", p.ID)
	}
	members := d.lives()
	for i, m := range p.Moves {
		if int(m.Slot) >= ring.Slots || i > 0 && m.Slot <= p.Moves[i-1].Slot {
			return fmt.Errorf("move of slot %d", m.Slot)
		}
		for _, ids := range [...][]uint16{m.From, m.To} {
			if err := members.check(ids); err != nil {
				return fmt.Errorf("the move of slot %d %w", m.Slot, err)
			}
		}
	}
	for _, s := range slices.Concat(p.Changes, p.Undo) {
		if err := s.check(); err != nil {
			return err
		}
	}
	for _, c := range d.Joint {
		if _, ok := p.move(c.Slot); !ok {
			return fmt.Errorf("slot %d is joint, and does not move", c.Slot)
		}
	}
	return nil
}

func (d Document) checkRest() error {
	for _, s := range d.Staged {
		if err := s.check(); err != nil {
			return err
		}
	}
	for i, e := range d.History {
		if len(e.By) > maxText || len(e.What) > maxText || e.Version > d.Version || i > 0 && e.Version < d.History[i-1].Version {
			return fmt.Errorf("event of version %d", e.Version)
		}
	}
	if d.Formation == 0 {
		return errors.New("no formation")
	}
	if d.UsersAt > d.Version || d.UsersAt == 0 && len(d.Users) > 0 {
		return fmt.Errorf("%d users, changed in version %d of %d", len(d.Users), d.UsersAt, d.Version)
	}
	if err := checkUsers(d.Users, d.Version); err != nil {
		return err
	}
	if d.ParametersAt > d.Version || d.ParametersAt == 0 && len(d.Parameters) > 0 {
		return fmt.Errorf("%d parameters, changed in version %d of %d", len(d.Parameters), d.ParametersAt, d.Version)
	}
	if err := checkParameters(d.Parameters); err != nil {
		return err
	}
	if d.Refounded > d.Version {
		return fmt.Errorf("founded again in version %d", d.Refounded)
	}
	if len(d.Staged) > MaxStaged || len(d.History) > MaxHistory || d.StagedAt > d.Version || d.Rate < 0 {
		return fmt.Errorf("%d changes staged in version %d, %d events, rate %d", len(d.Staged), d.StagedAt, len(d.History), d.Rate)
	}
	return nil
}

// check returns what is wrong with a staged change as such.
func (s Staged) check() error {
	ok := len(s.Name) <= ring.MaxName && len(s.By) <= ring.MaxName
	switch s.Kind {
	case JoinMember, LeaveMember, SetRack:
	case ReplaceMember:
		ok = ok && s.By != "" && s.By != s.Name
	case SetWeight:
		ok = ok && s.Number >= 1 && s.Number <= ring.MaxWeight
	case SetReplicas:
		ok = ok && s.Number >= 1 && s.Number <= ring.MaxReplicas && s.Name == ""
	default:
		ok = false
	}
	if !ok || (s.Name == "") != (s.Kind == SetReplicas) {
		return fmt.Errorf("%w: %s", ErrImpossible, s)
	}
	return nil
}
