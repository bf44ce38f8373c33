package replica

import (
	"errors"
	"fmt"

	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/node/watch"
)

// store is the engine as the replicas of slots see it. Whoever watches keys hears of what they are sent.
type store struct {
	engine.Engine
	watched *watch.Table
}

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
	if err := s.stage(slot, version, c); err != nil {
		return err
	}
	if s.watched.Any(slot) {
		s.watched.Changed(slot, c.Key, version, c.IsDelta || c.State.Live())
	}
	return nil
}

func (s *store) stage(slot uint16, version record.Version, c *record.Change) error {
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

// Clear implements register.Writer.
func (s *store) Clear(slot uint16, meta record.SlotMeta) error {
	err := s.Engine.Clear(slot, meta)
	if err == nil && s.watched.Any(slot) {
		s.watched.Cleared(slot, meta.Cleared)
	}
	return err
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
	if s.round == nil { // no round will end
		s.host.store.watched.Flush()
	}
	if errors.Is(err, engine.ErrFull) { // though it was not when it was asked
		return fmt.Errorf("%w: %w", register.ErrNoRoom, err)
	}
	return err
}

// Names implements register.Store. Each slot has its keys in an order of their own, so it looks at all of them.
func (s *store) Names(slot uint16, id database.ID, visit func(key []byte) bool) error {
	return s.Scan(slot, 0, func(_ engine.Position, key []byte, rec record.Record) bool {
		if of, _ := database.Split(key); of != id || !rec.State.Live() {
			return true
		}
		return visit(key)
	})
}
