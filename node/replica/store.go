package replica

import (
	"errors"
	"fmt"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/register"
)

// store is the engine as the replicas of slots see it.
type store struct{ engine.Engine }

var (
	_ register.Store  = (*store)(nil)
	_ register.Writer = (*store)(nil)
)

// Stage implements register.Writer. An engine stages keys one by one: of more than one change a crash could keep some only, so there must not be more yet.
func (s *store) Stage(slot uint16, version record.Version, changes []record.Change) error {
	if len(changes) != 1 {
		return errBatch
	}
	c := &changes[0]
	if c.IsDelta && !c.State.Live() {
		return s.Patch(slot, c.Key, version, c.Base, c.Delta)
	}
	rec := record.Record{Version: version, State: c.State}
	if c.IsDelta {
		return s.Change(slot, c.Key, rec, c.Base, c.Delta)
	}
	if datatype.MayLive(rec.State.Type) { // from another node it comes as bytes
		rec.State, _ = datatype.Live(rec.State)
	}
	return s.Put(slot, c.Key, rec)
}

// errBatch is returned for changes of several keys, which nothing makes yet.
var errBatch = errors.New("replica: changes of several keys are not staged as one yet")

// Persist stages what a step, or the rebuild of a slot, wants to have persisted. It is register.ErrNoRoom (wrapped) if there is no room. Nothing is
// staged in a round of work that found the engine full, so that the room it keeps for what was on its way is never used up. The stripe is locked.
func (s *Stripe) Persist(w *register.Write) error {
	if s.round != nil && s.round.in.Full {
		return register.ErrNoRoom
	}
	err := w.To(&s.host.store)
	if errors.Is(err, engine.ErrFull) { // though it was not when it was asked
		return fmt.Errorf("%w: %w", register.ErrNoRoom, err)
	}
	return err
}
