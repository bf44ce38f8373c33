package register

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/quolldb/quoll/internal/prefetch"
	"github.com/quolldb/quoll/internal/record"
)

// ApplyDelta makes of a state what an effect's delta makes of it.
type ApplyDelta func(st record.State, delta []byte) (record.State, error)

// Acceptor is one replica of one slot. It is a state machine: a step reads, and says what it wants to have written.
type Acceptor struct {
	meta       record.SlotMeta // as persisted last
	open       *batchRecord    // the batch that is open here, if that is known: see batch
	knowsBatch bool
	slot       uint16
	store      Store
	// Up to here each read touches it: Prefetch.
	apply ApplyDelta
	heard record.Ballot // the highest of messages that there was no room for
}

// Prefetch brings near what Step and Read touch of the acceptor.
func (a *Acceptor) Prefetch() { prefetch.Span(unsafe.Pointer(a), unsafe.Offsetof(a.apply)) }

// NewAcceptor opens the replica of a slot from what the store holds. It is a value,
// so that a slot is one piece of memory; it is not copied once it is used.
func NewAcceptor(slot uint16, store Store, apply ApplyDelta) (Acceptor, error) {
	meta, err := store.Slot(slot)
	if err != nil {
		return Acceptor{}, fmt.Errorf("slot %d: %w", slot, err)
	}
	return Acceptor{slot: slot, store: store, apply: apply, meta: meta}, nil
}

// Meta returns the state of the slot as a whole.
func (a *Acceptor) Meta() record.SlotMeta { return a.meta }

// rival returns the highest ballot that the replica has heard of, promised or not.
func (a *Acceptor) rival() record.Ballot {
	if a.meta.Promised.Less(a.heard) {
		return a.heard
	}
	return a.meta.Promised
}

// Adopt raises the replica's epoch (R1); it reports false for an older one. The epoch counts when w, which is to be empty, has been persisted.
func (a *Acceptor) Adopt(epoch uint64, w *Write) bool {
	if epoch > a.meta.Epoch {
		a.change(w).Epoch = epoch
		return true
	}
	return epoch == a.meta.Epoch
}

// Enter is Adopt of an epoch whose members the caller knows. A replica that comes to the slot in it is empty from then on, whatever it held before as a
// member of it, or of a change that was given up: what was acknowledged has been deleted and purged since by those that stayed (R17). What it promised, and up to
// where keys are known to be deleted, does no harm and stays. All of that is one write.
func (a *Acceptor) Enter(epoch uint64, joins bool, w *Write) {
	if joins && epoch > a.meta.Epoch {
		w.replace(WriteReset, a.slot, record.SlotMeta{Epoch: epoch, Promised: a.meta.Promised, Floor: record.Max(a.meta.Floor, a.meta.Cleared)})
		return
	}
	a.Adopt(epoch, w)
}

// change returns the slot's state as w will set it.
func (a *Acceptor) change(w *Write) *record.SlotMeta {
	if !w.SetsMeta {
		w.SetsMeta, w.Slot, w.Meta = true, a.slot, a.meta
	}
	return &w.Meta
}

// Persisted tells the replica what came of what a step wanted to have persisted, which is forgotten. With an error, which it returns, what the step
// replied must not leave. ErrNoRoom is as if the request had been lost on its way; after any other one the replica is not to be used any more for this slot.
func (a *Acceptor) Persisted(w *Write, err error) error {
	b := w.ballot
	if err == nil && w.SetsMeta {
		a.meta = w.Meta
	}
	a.noteBatch(w)
	w.forget()
	switch {
	case err == nil:
		return nil
	case !errors.Is(err, ErrNoRoom):
		return err
	}
	a.hear(b)
	meta, failed := a.store.Slot(a.slot) // it may have been set though there was no room for what came after it
	if failed != nil {
		return failed
	}
	a.meta = meta
	return err
}

// hear notes the ballot of a message that comes to nothing here.
func (a *Acceptor) hear(b record.Ballot) {
	if a.heard.Less(b) {
		a.heard = b
	}
}

// Epoch returns the epoch that the replica is in.
func (a *Acceptor) Epoch() uint64 { return a.meta.Epoch }

// Read returns what the replica holds of a key: its record or, without one, the
// tombstone that the slot's last clear left. present tells which.
func (a *Acceptor) Read(key []byte) (rec record.Record, present bool, err error) {
	if a.meta.Rebuilding {
		return record.Record{}, false, ErrRebuilding
	}
	rec, present, err = a.store.Get(a.slot, key)
	if err != nil || present {
		return rec, present, err
	}
	return record.Record{Version: a.meta.Cleared}, false, nil
}

// Step executes a request and fills in the reply, which borrows the request's key, and the state that a delta leads to. What it wants to have
// persisted is in w, which is to be empty: if there is something, the reply does not leave before Persisted has been told that it was. An error
// comes from reading the store: there is no reply then, and nothing to persist, and the replica is not to be used any more for this slot.
func (a *Acceptor) Step(m *Message, reply *Message, w *Write) error {
	err := a.step(m, reply, w)
	switch {
	case err != nil:
		w.forget()
		a.hear(m.Ballot)
	case w.Wanted():
		w.Slot, w.ballot = a.slot, m.Ballot
	}
	return err
}

func (a *Acceptor) step(m *Message, reply *Message, w *Write) (err error) {
	if a.meta.Rebuilding {
		return ErrRebuilding
	}
	*reply = Message{}
	reply.Kind, reply.Reply, reply.Slot, reply.From, reply.To = m.Kind, true, m.Slot, m.To, m.From
	reply.Epoch, reply.Ballot, reply.Round, reply.Key = m.Epoch, m.Ballot, m.Round, m.Key
	if !a.Adopt(m.Epoch, w) {
		reply.Epoch, reply.Result = a.meta.Epoch, StaleEpoch
		return nil
	}
	switch m.Kind {
	case Prepare:
		err = a.prepare(m, reply, w)
	case SyncRead:
		err = a.syncRead(m, reply, w)
	case Accept:
		err = a.accept(m, reply, w)
	case Clear:
		a.clear(m, reply, w)
	case Purge:
		err = a.purge(m, w)
	case Confirm: // (R9) writes nothing
		if m.Ballot.Less(a.meta.Promised) {
			reply.Result = StaleBallot
		}
	}
	meta := &a.meta
	if w.SetsMeta {
		meta = &w.Meta
	}
	reply.Promised, reply.Floor = meta.Promised, meta.Floor
	return err
}

// prepare promises a ballot, strictly higher than any promised before: a ballot
// is promised once, to one request (R3).
// It says of an open batch that there is one (B6).
func (a *Acceptor) prepare(m *Message, reply *Message, w *Write) error {
	if !a.meta.Promised.Less(m.Ballot) {
		reply.Result = StaleBallot
		return nil
	}
	open, err := a.batch()
	reply.Present = open != nil
	a.promise(m.Ballot, w)
	return err
}

func (a *Acceptor) promise(b record.Ballot, w *Write) {
	if a.meta.Promised.Less(b) {
		a.change(w).Promised = b
	}
}

// syncRead is answered only under a promise (R5).
func (a *Acceptor) syncRead(m *Message, reply *Message, w *Write) error {
	if m.Ballot.Less(a.meta.Promised) {
		reply.Result = StaleBallot
		return nil
	}
	rec, present, err := a.Read(m.Key)
	if err != nil {
		return err
	}
	reply.Held, reply.Present, reply.Unsure = rec.Version, present, !present && a.meta.Unsure
	if reply.Same = present && rec.Version == m.Base; !reply.Same { // one version names one state for ever
		reply.Found = rec.State
	}
	a.promise(m.Ballot, w)
	return nil
}

// accept checks in the order of R6.
func (a *Acceptor) accept(m *Message, reply *Message, w *Write) error {
	if m.Ballot.Less(a.meta.Promised) {
		reply.Result = StaleBallot
		return nil
	}
	rec, present, err := a.Read(m.Key)
	if err != nil {
		return err
	}
	reply.Held = rec.Version
	switch {
	case m.Ballot.Less(rec.Version.Ballot):
		reply.Result = StaleBallot
		return nil
	case !rec.Version.Less(m.Version):
		return nil // holds this version or one built on it in the same term
	case !present && !a.meta.Floor.Less(m.Version):
		reply.Result = BelowFloor
		return nil
	}
	if m.IsDelta {
		if rec.Version != m.Base {
			reply.Result = NeedFull
			return nil
		}
		_, patches := record.PatchOf(rec.State, m.Delta)
		if !m.State.Live() && !patches { // the process' own home gives the state, too
			if m.State, err = a.apply(rec.State, m.Delta); err != nil {
				return fmt.Errorf("slot %d: delta on version %v: %w", a.slot, m.Base, err)
			}
		}
	}
	a.promise(m.Ballot, w)
	reply.Held = m.Version
	w.Kind, w.Version, w.Changes = WriteChanges, m.Version, m.Changes()
	if m.IsDelta && !present { // what the slot's clear has left is no record
		w.Changes = []record.Change{{Key: m.Key, State: m.State}}
	}
	return nil
}

// clear is an accept of a deletion of every key of the slot.
func (a *Acceptor) clear(m *Message, reply *Message, w *Write) {
	if m.Ballot.Less(a.meta.Promised) || m.Ballot.Less(a.meta.Cleared.Ballot) {
		reply.Result = StaleBallot
		return
	}
	reply.Held = a.meta.Cleared
	if a.meta.Cleared.Less(m.Version) {
		a.promise(m.Ballot, w)
		a.change(w).Cleared = m.Version
		w.Meta.Unsure = false
		w.Kind, reply.Held = WriteClear, m.Version
	}
}
