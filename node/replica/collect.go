package replica

import (
	"errors"

	"github.com/quolldb/quoll/node/register"
)

// What members of a slot in a joint epoch do with it while one of them collects what it holds (R18). The stripe is locked in the course of a round.

// ErrOtherEpoch is returned for a slot that is not in the joint epoch that is meant, as far as this node knows.
var ErrOtherEpoch = errors.New("replica: the slot is in another epoch")

// Joint opens a slot that this node holds, and has its replica take part in a joint epoch, if that is the one of which the node knows the members. With an
// error of the store it returns the slot, too, if there is one.
func (s *Stripe) Joint(number uint16, epoch uint64) (*Slot, error) {
	sl, err := s.Slot(number)
	if err != nil {
		return nil, err
	}
	if c := sl.home.Config(); c.Epoch() != epoch || !c.Joint() {
		return nil, ErrOtherEpoch
	}
	switch current, err := s.Adopt(sl, epoch); {
	case err != nil:
		return sl, err
	case !current:
		return nil, ErrOtherEpoch
	}
	return sl, nil
}

// Config is who holds the slot, as its home knows it.
func (sl *Slot) Config() *register.Config { return sl.home.Config() }

// Acceptor is the slot's replica. What its methods want to have persisted is for Stripe.Wrote.
func (sl *Slot) Acceptor() *register.Acceptor { return &sl.acceptor }

// Wrote persists what the replica of a slot wants to have persisted, and tells it.
func (s *Stripe) Wrote(sl *Slot, w *register.Write) error { return s.persist(sl, w) }

// Leader is the member that leads a slot as far as its home knows, 0 if it knows of none.
func (s *Stripe) Leader(sl *Slot) uint16 { return sl.home.Leader(s.round.in.Mono) }
