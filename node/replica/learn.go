package replica

import (
	"errors"

	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/ring"
)

// Learn takes up a later version of the ring that the node votes in, of the same member. Homes of slots that have changed give up
// their terms (R15); the other slots go on. It waits for the lock of each slot in turn, and reports whether the version was news. One
// goroutine at a time calls it.
//
// An operation that was let in under the version before may be executed while the new one is taken up. That does no harm: such a home is one that has not
// heard yet, and what it asks of replicas is of the old epoch (R1).
func (h *Host) Learn(v *View) bool {
	old := h.view.Load()
	if old == nil || v.Table.Version() <= old.Table.Version() {
		return false
	}
	h.view.Store(v)
	round := h.Begin()
	for i := range h.stripes {
		s := &h.stripes[i]
		s.mu.Lock()
		s.round = round
		for k, sl := range s.slots {
			if sl != nil {
				s.learn(uint16(k*stripes+i), sl, v)
			}
		}
		s.openJoined(i, v, old.Table.Version())
		s.Unlock()
	}
	round.Flush()
	return true
}

// Later notes a version of the ring that somebody has named: a member, 0 for a proxy. Slots may be locked.
func (h *Host) Later(member uint16, version uint64) {
	if v := h.view.Load(); v != nil && version > v.Table.Version() {
		h.node.Later(member, version)
	}
}

// Unknown reports whether an epoch of a slot is later than the one that this node knows the members of. Nobody acts in such an epoch (R17): what is said in
// it is as if it had been lost. The slot's stripe is locked.
func (h *Host) Unknown(sl *Slot, number uint16, epoch uint64) bool {
	return epoch > sl.acceptor.Epoch() && epoch > h.view.Load().Table.Epoch(number)
}

// enter has the replica of a slot take part in the epoch that the view says, in one write (R17). Without room for that a replica that stays is as if it had not
// heard yet, and one that comes to the slot does not begin. The stripe is locked.
func (s *Stripe) enter(number uint16, sl *Slot, v *View) error {
	joins := v.Joins(number)
	if !joins && sl.acceptor.Epoch() == 0 { // nothing has been said of the slot yet; it adopts the epoch with the first request
		return nil
	}
	var w register.Write
	sl.acceptor.Enter(v.Table.Epoch(number), joins, &w)
	err := s.persist(sl, &w)
	if errors.Is(err, register.ErrNoRoom) && !joins {
		return nil
	}
	return err
}

// openJoined opens the slots of the stripe that this node comes to: what it holds of them from before is shown to nobody. One that it has no room to begin in is
// opened by whoever uses it next. Slots that have not changed since a version have been looked at then. The stripe is locked.
func (s *Stripe) openJoined(i int, v *View, since uint64) {
	if v.Table.Joint() == 0 {
		return
	}
	for number := i; number < ring.Slots; number += stripes {
		if v.Table.Epoch(uint16(number)) > since && v.Joins(uint16(number)) {
			_, _ = s.Slot(uint16(number)) // of an error Fail has told, or the next one finds it again
		}
	}
}

// learn tells the replica and the home of a slot who holds it now, if that has changed. A slot that this node does not hold any more is closed, and so is
// one that it comes to again: it begins as one that was never there. The stripe is locked.
func (s *Stripe) learn(number uint16, sl *Slot, v *View) {
	epoch := v.Table.Epoch(number)
	if sl.home.Config().Epoch() == epoch {
		return
	}
	again := v.Joins(number) && sl.acceptor.Epoch() < epoch
	if again {
		s.told(number, sl, register.NewConfig(epoch, v.Table.Replicas(number), nil))
	} else {
		s.told(number, sl, v.config(number))
	}
	if again || !v.Table.Contains(number, v.Self) {
		s.close(number)
		return
	}
	if err := s.enter(number, sl, v); err != nil {
		s.Fail(number, sl, err)
	}
}

// told lets a home learn who holds its slot.
func (s *Stripe) told(number uint16, sl *Slot, c *register.Config) {
	in := &s.round.in
	in.Config = c
	s.step(number, sl, register.Learned)
	in.Config = nil
}

// close forgets a slot whose home has nothing to do any more. If it is opened again, its ballots are of another incarnation: the new home does not know which
// of its own have been used (R3).
func (s *Stripe) close(number uint16) {
	bit := uint64(1) << (number / stripes)
	s.active, s.busy, s.slots[number/stripes] = s.active&^bit, s.busy&^bit, nil
	s.host.closed.Add(1)
}
