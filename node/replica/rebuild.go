package replica

import (
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/register"
)

// What is done with a slot that is rebuilt. The stripe is locked in the course of a round, and the slot has been opened.

// Rebuild stops a slot for good, and begins to rebuild it.
func (s *Stripe) Rebuild(number uint16) (*register.Rebuild, error) {
	return s.slots[number/stripes].home.Rebuild(&s.round.ready)
}

// Restored lets a slot vote again.
func (s *Stripe) Restored(number uint16) { s.slots[number/stripes].err = nil }

// Fence and Meta are those of the slot's register.Acceptor, also if the slot cannot be read.
func (s *Stripe) Fence(number uint16, epoch uint64, b record.Ballot) (current bool, err error) {
	sl, w := s.slots[number/stripes], &s.round.ready.Write
	if current, err = sl.acceptor.Fence(epoch, b, w); err != nil {
		return false, err
	}
	return current, s.persist(sl, w)
}

// Meta is what the replica holds of the slot itself, also if the slot cannot be read.
func (s *Stripe) Meta(number uint16) record.SlotMeta { return s.slots[number/stripes].acceptor.Meta() }
