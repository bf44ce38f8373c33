package register

import (
	"fmt"

	"github.com/quolldb/quoll/internal/record"
)

// Store is what a replica of a slot needs of an engine: the part of
// engine.Engine that reads and stages. The caller of Acceptor and Home withholds what they
// send until what they staged is durable (R2).
type Store interface {
	Slot(slot uint16) (record.SlotMeta, error)
	PutSlot(slot uint16, meta record.SlotMeta) error
	Get(slot uint16, key []byte) (record.Record, bool, error)
	Put(slot uint16, key []byte, rec record.Record) error
	Delete(slot uint16, key []byte) error
	Clear(slot uint16, meta record.SlotMeta) error
}

// ApplyDelta makes of a state what an effect's delta makes of it.
type ApplyDelta func(st record.State, delta []byte) (record.State, error)

// Acceptor is one replica of one slot.
type Acceptor struct {
	slot  uint16
	store Store
	apply ApplyDelta
	meta  record.SlotMeta // as staged last
}

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

// Touch reads what Handle will read first, so that it is near by then. What it
// returns means nothing.
func (a *Acceptor) Touch() uint64 { return a.meta.Epoch + a.meta.Cleared.Seq }

// Adopt raises the replica's epoch (R1); it reports false for an older one.
func (a *Acceptor) Adopt(epoch uint64) (bool, error) {
	if epoch <= a.meta.Epoch {
		return epoch == a.meta.Epoch, nil
	}
	a.meta.Epoch = epoch
	return true, a.store.PutSlot(a.slot, a.meta)
}

// Read returns what the replica holds of a key: its record or, without one, the
// tombstone that the slot's last clear left. present tells which.
func (a *Acceptor) Read(key []byte) (rec record.Record, present bool, err error) {
	rec, present, err = a.store.Get(a.slot, key)
	if err != nil || present {
		return rec, present, err
	}
	return record.Record{Version: a.meta.Cleared}, false, nil
}

// Handle executes a request and fills in the reply, which borrows the request's
// key. An error comes from the store: nothing may be sent then, and the replica is not to be
// used any more for this slot.
func (a *Acceptor) Handle(m *Message, reply *Message) error {
	*reply = Message{Kind: m.Kind, Reply: true, Slot: m.Slot, From: m.To, To: m.From,
		Epoch: m.Epoch, Ballot: m.Ballot, Round: m.Round, Key: m.Key}
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
	a.meta.Promised = b
	return a.store.PutSlot(a.slot, a.meta)
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
	reply.Held, reply.Found, reply.Present = rec.Version, rec.State, present
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
	state := m.State
	if m.IsDelta {
		if rec.Version != m.Base {
			reply.Result = NeedFull
			return nil
		}
		if state, err = a.apply(rec.State, m.Delta); err != nil {
			return fmt.Errorf("slot %d: delta on version %v: %w", a.slot, m.Base, err)
		}
	}
	if err := a.promise(m.Ballot); err != nil {
		return err
	}
	reply.Held = m.Version
	return a.store.Put(a.slot, m.Key, record.Record{Version: m.Version, State: state})
}

// clear is an accept of a deletion of every key of the slot.
func (a *Acceptor) clear(m *Message, reply *Message) error {
	if m.Ballot.Less(a.meta.Promised) || m.Ballot.Less(a.meta.Cleared.Ballot) {
		reply.Result = StaleBallot
		return nil
	}
	if a.meta.Cleared.Less(m.Version) {
		if a.meta.Promised.Less(m.Ballot) {
			a.meta.Promised = m.Ballot
		}
		a.meta.Cleared = m.Version
		if err := a.store.Clear(a.slot, a.meta); err != nil {
			return err
		}
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
	a.meta.Floor = record.Max(a.meta.Floor, m.Version)
	if err := a.store.PutSlot(a.slot, a.meta); err != nil {
		return err
	}
	return a.store.Delete(a.slot, m.Key)
}
