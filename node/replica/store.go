package replica

import (
	"errors"
	"fmt"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/register"
)

// store is the engine as the replicas of a stripe's slots see it: nothing is written in
// a round of work that found the engine full, so that the room it keeps for what was on its way
// is never used up.
type store struct{ stripe *Stripe }

var (
	_ register.Store  = store{}
	_ register.Writer = store{}
)

// full reports whether the engine takes no writes in this round of work.
func (s *Stripe) full() bool { return s.round != nil && s.round.in.Full }

// Slot implements register.Store.
func (s store) Slot(slot uint16) (record.SlotMeta, error) { return s.stripe.host.engine.Slot(slot) }

// Get implements register.Store.
func (s store) Get(slot uint16, key []byte) (record.Record, bool, error) {
	return s.stripe.host.engine.Get(slot, key)
}

// PutSlot implements register.Writer.
func (s store) PutSlot(slot uint16, meta record.SlotMeta) error {
	if s.stripe.full() {
		return register.ErrNoRoom
	}
	return noRoom(s.stripe.host.engine.PutSlot(slot, meta))
}

// Stage implements register.Writer. An engine stages keys one by one: of more than one change a crash could keep some only, so there must not be more yet.
func (s store) Stage(slot uint16, version record.Version, changes []record.Change) error {
	if len(changes) != 1 {
		return errBatch
	}
	if s.stripe.full() {
		return register.ErrNoRoom
	}
	c := &changes[0]
	rec := record.Record{Version: version, State: c.State}
	if c.IsDelta {
		return noRoom(s.stripe.host.engine.Change(slot, c.Key, rec, c.Base, c.Delta))
	}
	if datatype.MayLive(rec.State.Type) { // from another node it comes as bytes
		rec.State, _ = datatype.Live(rec.State)
	}
	return noRoom(s.stripe.host.engine.Put(slot, c.Key, rec))
}

// errBatch is returned for changes of several keys, which nothing makes yet.
var errBatch = errors.New("replica: changes of several keys are not staged as one yet")

// Delete implements register.Writer.
func (s store) Delete(slot uint16, key []byte) error {
	if s.stripe.full() {
		return register.ErrNoRoom
	}
	return noRoom(s.stripe.host.engine.Delete(slot, key))
}

// Clear implements register.Writer.
func (s store) Clear(slot uint16, meta record.SlotMeta) error {
	if s.stripe.full() {
		return register.ErrNoRoom
	}
	return noRoom(s.stripe.host.engine.Clear(slot, meta))
}

// Reset implements register.Writer.
func (s store) Reset(slot uint16, meta record.SlotMeta) error {
	if s.stripe.full() {
		return register.ErrNoRoom
	}
	return noRoom(s.stripe.host.engine.Reset(slot, meta))
}

// noRoom says in the protocol's words that the engine is full, though it was not when it
// was asked.
func noRoom(err error) error {
	if errors.Is(err, engine.ErrFull) {
		return fmt.Errorf("%w: %w", register.ErrNoRoom, err)
	}
	return err
}
