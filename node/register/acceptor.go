package register

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/quolldb/quoll/internal/prefetch"
	"github.com/quolldb/quoll/internal/record"
)

// Store is what a replica of a slot needs of an engine: the part of
// engine.Engine that reads and stages. The caller of Acceptor and Home withholds what they
// send until what they staged is durable (R2).
type Store interface {
	Slot(slot uint16) (record.SlotMeta, error)
	PutSlot(slot uint16, meta record.SlotMeta) error
	Get(slot uint16, key []byte) (record.Record, bool, error)
	// Stage puts records of one version: all of the changes, or none. Of a delta's the key has the record that it is built on. It copies what it borrows.
	Stage(slot uint16, version record.Version, changes []record.Change) error
	Delete(slot uint16, key []byte) error
	Clear(slot uint16, meta record.SlotMeta) error
	// Reset removes every record of the slot, without reading any, and sets its state.
	Reset(slot uint16, meta record.SlotMeta) error
}

// ErrNoRoom is what a Store returns (wrapped) for a write that it has no room for. It
// has staged nothing then, and may be asked again later.
var ErrNoRoom = errors.New("register: no room in the store")

// ApplyDelta makes of a state what an effect's delta makes of it.
type ApplyDelta func(st record.State, delta []byte) (record.State, error)

// Acceptor is one replica of one slot.
type Acceptor struct {
	meta  record.SlotMeta // as staged last
	store Store
	slot  uint16
	apply ApplyDelta
	heard record.Ballot // the highest of messages that there was no room for
}

// Prefetch brings near what Handle and Read touch of the acceptor.
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

// Adopt raises the replica's epoch (R1); it reports false for an older one.
func (a *Acceptor) Adopt(epoch uint64) (bool, error) {
	if epoch <= a.meta.Epoch {
		return epoch == a.meta.Epoch, nil
	}
	meta := a.meta
	meta.Epoch = epoch
	return true, a.put(meta)
}

// put stages the state of the slot; it remains as it was if that fails.
func (a *Acceptor) put(meta record.SlotMeta) error {
	if err := a.store.PutSlot(a.slot, meta); err != nil {
		return err
	}
	a.meta = meta
	return nil
}

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

// Handle executes a request and fills in the reply, which borrows the request's
// key, and the state that a delta leads to. An error comes from the store: nothing may be sent then. ErrNoRoom is as if the request had
// been lost on its way; after any other one the replica is not to be used any more for this slot.
func (a *Acceptor) Handle(m *Message, reply *Message) error {
	err := a.handle(m, reply)
	if err != nil && a.heard.Less(m.Ballot) {
		a.heard = m.Ballot
	}
	return err
}

func (a *Acceptor) handle(m *Message, reply *Message) error {
	if a.meta.Rebuilding {
		return ErrRebuilding
	}
	*reply = Message{}
	reply.Kind, reply.Reply, reply.Slot, reply.From, reply.To = m.Kind, true, m.Slot, m.To, m.From
	reply.Epoch, reply.Ballot, reply.Round, reply.Key = m.Epoch, m.Ballot, m.Round, m.Key
	current, err := a.Adopt(m.Epoch)
	if err != nil {
		return err
	}
	if !current {
		reply.Epoch, reply.Result = a.meta.Epoch, StaleEpoch
		return nil
	}
	switch m.Kind {
	case Prepare:
		err = a.prepare(m, reply)
	case SyncRead:
		err = a.syncRead(m, reply)
	case Accept:
		err = a.accept(m, reply)
	case Clear:
		err = a.clear(m, reply)
	case Purge:
		err = a.purge(m)
	case Confirm: // (R9) writes nothing
		if m.Ballot.Less(a.meta.Promised) {
			reply.Result = StaleBallot
		}
	}
	reply.Promised, reply.Floor = a.meta.Promised, a.meta.Floor
	return err
}

// prepare promises a ballot, strictly higher than any promised before: a ballot
// is promised once, to one request (R3).
func (a *Acceptor) prepare(m *Message, reply *Message) error {
	if !a.meta.Promised.Less(m.Ballot) {
		reply.Result = StaleBallot
		return nil
	}
	return a.promise(m.Ballot)
}

func (a *Acceptor) promise(b record.Ballot) error {
	if !a.meta.Promised.Less(b) {
		return nil
	}
	meta := a.meta
	meta.Promised = b
	return a.put(meta)
}

// syncRead is answered only under a promise (R5).
func (a *Acceptor) syncRead(m *Message, reply *Message) error {
	if m.Ballot.Less(a.meta.Promised) {
		reply.Result = StaleBallot
		return nil
	}
	rec, present, err := a.Read(m.Key)
	if err != nil {
		return err
	}
	reply.Held, reply.Present = rec.Version, present
	if reply.Same = present && rec.Version == m.Base; !reply.Same { // one version names one state for ever
		reply.Found = rec.State
	}
	return a.promise(m.Ballot)
}

// accept checks in the order of R6.
func (a *Acceptor) accept(m *Message, reply *Message) error {
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
		if !m.State.Live() { // the process' own home sends the state, too
			if m.State, err = a.apply(rec.State, m.Delta); err != nil {
				return fmt.Errorf("slot %d: delta on version %v: %w", a.slot, m.Base, err)
			}
		}
	}
	if err := a.promise(m.Ballot); err != nil {
		return err
	}
	reply.Held = m.Version
	changes := m.Changes()
	if m.IsDelta && !present { // what the slot's clear has left is no record
		changes = []record.Change{{Key: m.Key, State: m.State}}
	}
	return a.store.Stage(a.slot, m.Version, changes)
}

// clear is an accept of a deletion of every key of the slot.
func (a *Acceptor) clear(m *Message, reply *Message) error {
	if m.Ballot.Less(a.meta.Promised) || m.Ballot.Less(a.meta.Cleared.Ballot) {
		reply.Result = StaleBallot
		return nil
	}
	if a.meta.Cleared.Less(m.Version) {
		meta := a.meta
		if meta.Promised.Less(m.Ballot) {
			meta.Promised = m.Ballot
		}
		meta.Cleared = m.Version
		if err := a.store.Clear(a.slot, meta); err != nil {
			return err
		}
		a.meta = meta
	}
	reply.Held = a.meta.Cleared
	return nil
}

// purge drops a tombstone that every member holds, and raises the floor so that
// no older message brings the key back (R13).
func (a *Acceptor) purge(m *Message) error {
	rec, present, err := a.store.Get(a.slot, m.Key)
	if err != nil || !present || rec.Version != m.Version || rec.State.Live() {
		return err
	}
	meta := a.meta
	meta.Floor = record.Max(meta.Floor, m.Version)
	if err := a.put(meta); err != nil {
		return err
	}
	return a.store.Delete(a.slot, m.Key)
}
