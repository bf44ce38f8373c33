package replica

import "github.com/quolldb/quoll/node/register"

// Learn takes up a later version of the ring that the node votes in, of the same member. Homes of slots that have changed give up
// their terms (R15); the other slots go on. It waits for the lock of each slot in turn, and reports whether the version was news. One
// goroutine at a time calls it.
//
// An operation that was let in under the version before may be executed while the new one is taken up. That does no harm: such a home is one that has not
// heard yet, and what it asks of replicas is of the old epoch (R1).
func (h *Host) Learn(v *View) bool {
	if old := h.view.Load(); old == nil || v.Table.Version() <= old.Table.Version() {
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
		s.Unlock()
	}
	round.Flush()
	return true
}

// Unknown reports whether an epoch of a slot is later than the one that this node knows the members of. Nobody acts in such an epoch (R17): what is said in
// it is as if it had been lost. The slot's stripe is locked.
func (h *Host) Unknown(sl *Slot, number uint16, epoch uint64) bool {
	return epoch > sl.acceptor.Epoch() && epoch > h.view.Load().Table.Epoch(number)
}

// learn tells the home of a slot who holds it now, if that has changed. A slot that this node does not hold any more is closed. The stripe is locked.
func (s *Stripe) learn(number uint16, sl *Slot, v *View) {
	if sl.home.Config().Epoch() == v.Table.Epoch(number) {
		return
	}
	in := &s.round.in
	in.Config = v.config(number)
	s.step(number, sl, register.Learned)
	in.Config = nil
	if !v.Table.Contains(number, v.Self) {
		bit := uint64(1) << (number / stripes)
		s.active, s.busy, s.slots[number/stripes] = s.active&^bit, s.busy&^bit, nil
	}
}
