package disk

import (
	"errors"
	"fmt"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

// Changes are repeated on what the store holds, which may be ahead of the journal's beginning, since the flusher writes to the store before
// it lets the journal forget. A version names one state of a key, and a change is in the journal as such only if its version is above the one that it is made of. So of a row of
// changes those are left out that the store has already. What makes no sense in between does not matter if something follows that
// does not depend on it: a whole record, a deletion, or what ends all records of the slot.

// unresolved are the keys whose changes could not be repeated, until something makes that good, with the reason.
type unresolved map[*slot]map[string]error

func (u unresolved) note(s *slot, key []byte, reason error) {
	if u[s] == nil {
		u[s] = map[string]error{}
	}
	if u[s][string(key)] == nil { // else what follows cannot be repeated for the first reason
		u[s][string(key)] = reason
	}
}

// settle notes that it does not matter any more what happened to a key.
func (u unresolved) settle(s *slot, key []byte) { delete(u[s], string(key)) }

func (u unresolved) settleAll(s *slot) { delete(u, s) }

// replayPut repeats the writing of a whole record.
func (e *Engine) replayPut(s *slot, key []byte, rec record.Record) {
	e.unresolved.settle(s, key)
	e.changed(memoryOf(e.set(s, key, rec)))
}

// replayChange repeats a change. rec has no value yet.
func (e *Engine) replayChange(s *slot, key []byte, rec record.Record, base record.Version, delta []byte) error {
	if e.opt.Apply == nil {
		return fmt.Errorf("%w: journal: a change, which nobody here can apply: %w", engine.ErrCorrupt, errOperation)
	}
	held, found, err := e.get(s, key)
	switch {
	case err != nil:
		e.unresolved.note(s, key, err)
		return nil
	case found && !held.Version.Less(rec.Version):
		return nil
	case !found || held.Version != base:
		e.unresolved.note(s, key, nil)
		return nil
	}
	st, err := e.opt.Apply(held.State, delta)
	if errors.Is(err, engine.ErrCorrupt) { // a part of it
		e.unresolved.note(s, key, err)
		return nil
	}
	if err != nil {
		return fmt.Errorf("%w: journal: a change of a record in slot %d: %w", engine.ErrCorrupt, s.number, err)
	}
	rec.State.Value, rec.State.Object = st.Value, st.Object // type and expiry are the record's
	e.set(s, key, rec)
	e.changed(entryOverhead + int64(len(delta)))
	return nil
}

// settleReplay decides, when all is repeated, about what could not be. If a record could not be read that was changed later, the slot has
// lost that change: it does not vote until it is copied from the others. If there was another one than there should be, files are lost.
func (e *Engine) settleReplay() error {
	for s, keys := range e.unresolved {
		for _, reason := range keys {
			if reason == nil {
				return fmt.Errorf("%w: the journal in %s changes a record of slot %d that the store in %s has in another version: files of one of them are lost",
					engine.ErrCorrupt, e.opt.Journal, s.number, e.opt.Dir)
			}
			e.log.Error("a record that was changed cannot be read: its slot does not vote until it is copied from the other replicas", "slot", s.number, "err", reason)
			meta := s.meta
			meta.Rebuilding = true
			e.setMeta(s, meta)
		}
	}
	e.unresolved = nil
	return nil
}
