package replica

import (
	"errors"
	"fmt"

	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/register"
)

// What an error of the store ends: the vote of a slot whose data is damaged until it has been rebuilt
// (package rebuild), that of the whole node if anything else failed, nothing if there was only no room. What
// cannot be read is never taken for absent.

// Fail acts on an error of the store about a slot. The stripe is locked.
func (s *Stripe) Fail(number uint16, sl *Slot, err error) {
	switch {
	case errors.Is(err, register.ErrNoRoom):
		return
	case !errors.Is(err, engine.ErrCorrupt) && !errors.Is(err, register.ErrRebuilding):
		sl.err = err
		s.host.StorageFailed(err)
	case sl.err == nil:
		sl.err = err
		s.host.node.Damaged(number, err)
		s.host.opt.Logger.Error("the data of a slot is damaged; this node does not vote for it until it has copied all records of the "+
			"slot's other replicas, all of which have to be up; without others the data is lost: make a new cluster from a backup (quoll node restore)", "slot", number, "err", err)
	}
	if s.round != nil {
		sl.home.Fail(err, &s.round.ready)
		return
	}
	round := s.host.Begin()
	sl.home.Fail(err, &round.ready)
	round.act()
	round.Flush()
}

// errKnown is wrapped by errors about a slot that were found before: it may be sound again by the time
// somebody acts on them.
var errKnown = errors.New("the slot is damaged")

// Readable returns why a slot cannot be read, if that is known. The stripe is locked, and maybe the slot in the engine.
func (s *Stripe) Readable(number uint16) error {
	if sl := s.slots[number/stripes]; sl != nil {
		if sl.err != nil {
			return fmt.Errorf("%w: %w", errKnown, sl.err)
		}
		return nil
	}
	if s.host.node.Rebuilding(number) {
		return register.ErrRebuilding
	}
	if v := s.host.view.Load(); v != nil && v.Joins(number) {
		return fmt.Errorf("%w: %w", errKnown, errNotBegun)
	}
	return nil
}

// errNotBegun is why a slot cannot be read that this node comes to, and had no room to begin in (R17).
var errNotBegun = errors.New("what the node held of the slot before is not removed yet, for want of room")

// Unreadable acts on an error that looking at all of a slot met. No slot may be locked.
func (h *Host) Unreadable(number uint16, err error) {
	round := h.Begin()
	defer round.Flush()
	st := h.Lock(number, round)
	defer st.Unlock()
	st.Unreadable(number, err)
}

// Unreadable acts on an error that looking at all of a slot met. The stripe is locked.
func (s *Stripe) Unreadable(number uint16, err error) {
	if errors.Is(err, errKnown) {
		return
	}
	if sl, known := s.Slot(number); known == nil {
		s.Fail(number, sl, err)
	}
}

// StorageFailed stops the node from voting: what its store says cannot be trusted any
// more. Whoever is connected connects again, and is told.
func (h *Host) StorageFailed(err error) {
	if h.failure.CompareAndSwap(nil, &err) {
		h.failed.Store(true)
		h.node.StorageFailed(err)
	}
}

// Failed reports whether the store has failed, and Failure says how.
func (h *Host) Failed() bool { return h.failed.Load() }

// Failure is how the store failed, once it has.
func (h *Host) Failure() error { return *h.failure.Load() }
