package register

import (
	"errors"

	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/record"
)

// Store is what a replica of a slot reads of an engine. Steps do nothing else with it: what is to be written comes out of them as a Write.
type Store interface {
	Slot(slot uint16) (record.SlotMeta, error)
	Get(slot uint16, key []byte) (record.Record, bool, error)
	// Names calls visit with the keys of a database, as they are kept, of which the slot has live records, expired ones too, until it returns false. They are borrowed.
	Names(slot uint16, id database.ID, visit func(key []byte) bool) error
}

// Writer is what persists a Write: the part of engine.Engine that stages. What was staged can be read at once. That it is durable is waited
// for by whoever sends what rests on it (R2).
type Writer interface {
	PutSlot(slot uint16, meta record.SlotMeta) error
	// Stage puts records of one version: all of the changes, or none. Of a delta's the key has the record that it is built on: what is there gets patched by one
	// without a state. It copies what it borrows.
	Stage(slot uint16, version record.Version, changes []record.Change) error
	Delete(slot uint16, key []byte) error
	Clear(slot uint16, meta record.SlotMeta) error
	// Reset removes every record of the slot, without reading any, and sets its state.
	Reset(slot uint16, meta record.SlotMeta) error
}

// ErrNoRoom is what a Writer returns (wrapped) for a write that it has no room for. It
// has staged nothing then, and may be asked again later.
var ErrNoRoom = errors.New("register: no room in the store")

// WriteKind says what a Write does to the records of its slot.
type WriteKind uint8

// What a Write may do to records.
const (
	WriteNothing WriteKind = iota
	WriteChanges           // those of one version
	WriteDelete            // the removal of one key's record
	WriteClear             // the removal of all records that are not above Meta.Cleared
	WriteReset             // the removal of all records
)

// Write is what a step has left to its caller, who has it persisted before the next step of the slot, and tells the replica what came of it. No
// message, vote or answer of the step leaves that rests on it before that. The zero value writes nothing.
type Write struct {
	Slot uint16
	// Kind says what becomes of records. SetsMeta: the slot's state becomes Meta, before.
	Kind     WriteKind
	SetsMeta bool
	Meta     record.SlotMeta
	// Version is that of the Changes, which borrow from the message that made them, as Key, whose record is deleted, does.
	Version record.Version
	Changes []record.Change
	Key     []byte

	ballot record.Ballot // of the message
}

// Wanted reports whether there is something to persist.
func (w *Write) Wanted() bool { return w.SetsMeta || w.Kind != WriteNothing }

// To persists the write. If it fails, the slot's state may have been set though the records were not changed.
func (w *Write) To(store Writer) error {
	if w.SetsMeta && w.Kind < WriteClear {
		if err := store.PutSlot(w.Slot, w.Meta); err != nil {
			return err
		}
	}
	switch w.Kind {
	case WriteChanges:
		return store.Stage(w.Slot, w.Version, w.Changes)
	case WriteDelete:
		return store.Delete(w.Slot, w.Key)
	case WriteClear:
		return store.Clear(w.Slot, w.Meta)
	case WriteReset:
		return store.Reset(w.Slot, w.Meta)
	}
	return nil
}

// forget makes it a write of nothing.
func (w *Write) forget() {
	w.Kind, w.SetsMeta, w.Changes, w.Key, w.ballot = WriteNothing, false, nil, nil, record.Ballot{}
}

// replace makes it one that sets the slot's state, and does so much to its records.
func (w *Write) replace(kind WriteKind, slot uint16, meta record.SlotMeta) {
	w.Kind, w.SetsMeta, w.Slot, w.Meta = kind, true, slot, meta
}
