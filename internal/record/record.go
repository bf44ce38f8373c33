// Package record holds the few types that every part of Quoll agrees on: what
// a key's value is (State), which write produced it (Version), and how it changes (Change, Patch). It has no
// behaviour beyond comparison and patching, and no dependency beyond the standard library.
package record

import (
	"bytes"
	"io"
)

// Ballot identifies a term: the period in which one process is the home of a
// slot. Ballots are ordered by Counter, then by Incarnation. The zero Ballot is
// lower than any that a process uses.
type Ballot struct {
	Counter uint64
	// Incarnation is unique per process start (rule R3). Its low 16 bits are the
	// ID of the ring member that uses it, so that a replica can tell from a
	// promise who leads the slot.
	Incarnation uint64
}

// NewIncarnation builds an incarnation from a number that is unique per process
// start (random, or a counter in a simulator) and the member's ID.
func NewIncarnation(unique uint64, member uint16) uint64 {
	return unique<<16 | uint64(member)
}

// Member returns the ID of the ring member that uses the ballot.
func (b Ballot) Member() uint16 { return uint16(b.Incarnation) }

// IsZero reports whether b is the zero Ballot.
func (b Ballot) IsZero() bool { return b == Ballot{} }

// Less reports whether b is ordered before c.
func (b Ballot) Less(c Ballot) bool {
	return b.Counter < c.Counter || b.Counter == c.Counter && b.Incarnation < c.Incarnation
}

// Version orders all writes of a slot: by term, then by position in the term.
// One version names one state of a key for ever. The zero Version means
// "absent": the key was never written here.
type Version struct {
	Ballot Ballot
	Seq    uint64
}

// IsZero reports whether v is the zero Version.
func (v Version) IsZero() bool { return v == Version{} }

// Less reports whether v is ordered before w.
func (v Version) Less(w Version) bool {
	return v.Ballot.Less(w.Ballot) || v.Ballot == w.Ballot && v.Seq < w.Seq
}

// Max returns the later of v and w.
func Max(v, w Version) Version {
	if v.Less(w) {
		return w
	}
	return v
}

// Type is the data type of a key. The zero Type is a deleted key.
type Type uint8

// The data types. The numbers are stored and sent: append only.
const (
	None      Type = 0
	String    Type = 1
	Hash      Type = 2
	List      Type = 3
	Set       Type = 4
	SortedSet Type = 5
	Stream    Type = 6
)

// Batch is the type of the register's own record of batches (register.BatchKey), and of no client's key.
const Batch Type = 64

// Known reports whether this version of Quoll has the type.
func (t Type) Known() bool { return t <= Stream }

// String returns the name that the TYPE command shows.
func (t Type) String() string {
	switch t {
	case None:
		return "none"
	case String:
		return "string"
	case Hash:
		return "hash"
	case List:
		return "list"
	case Set:
		return "set"
	case SortedSet:
		return "zset"
	case Stream:
		return "stream"
	}
	return "unknown"
}

// State is what a key holds. The zero State is a deleted (or never set) key; a
// Record that holds it is a tombstone.
type State struct {
	Type Type
	// ExpireAt is the absolute expiry in Unix milliseconds, 0 for none.
	ExpireAt int64
	// Value is immutable once it is part of a State that was handed on: a new
	// value is a new slice. But one of up to CopiedValue bytes may be borrowed: whoever keeps it makes a copy.
	Value []byte
	// Object is what a large value is in memory; Value is nil then. A long String may be either: bytes on one replica, an object on another.
	Object Object
}

// Object is a value that a change costs what the change is. For whoever has it, it never changes: a change makes another one, which
// shares most of its memory, or takes it over. So it may be kept by anybody, and never has to be copied.
// Only the data type that made it knows what it is; to all others it is what it would be as a Value. Parts of it may be in a store until they
// are needed: see Parted and Unreadable.
type Object interface {
	// Size is the length in bytes of what AppendTo appends. It takes constant time.
	Size() int
	// AppendTo appends the value as it is sent and stored.
	AppendTo(dst []byte) []byte
	// Reader reads what AppendTo appends, from its beginning to io.EOF, and takes next to no memory. An error is one of the store that has parts.
	Reader() io.Reader
	// Memory is about how many bytes of memory it takes. It takes constant time.
	Memory() int
}

// CopiedValue is the length up to which whoever keeps a value copies it, so that it may be part of a message, or of
// what a store overwrites with the next one. Of a longer value all share one piece of memory, which never changes.
const CopiedValue = 1024

// Keep returns a state that may be kept: with a copy of a Value that is borrowed.
func (s State) Keep() State {
	if len(s.Value) <= CopiedValue {
		s.Value = append([]byte(nil), s.Value...)
	}
	return s
}

// Size returns the length of the value in bytes, as it is sent and stored.
func (s State) Size() int {
	if s.Object != nil {
		return s.Object.Size()
	}
	return len(s.Value)
}

// Packed returns the state with its value as bytes: as long as a large object is, they are allocated.
func (s State) Packed() State {
	if s.Object != nil {
		s.Value, s.Object = s.Object.AppendTo(make([]byte, 0, s.Object.Size())), nil
	}
	return s
}

// Reader reads the value as it is sent and stored, and takes next to no memory. The value is not borrowed.
func (s State) Reader() io.Reader {
	if s.Object != nil {
		return s.Object.Reader()
	}
	return bytes.NewReader(s.Value)
}

// Live reports whether the state is a value rather than a deletion. It does
// not look at the expiry.
func (s State) Live() bool { return s.Type != None }

// Expired reports whether the state has an expiry that is not after now (Unix
// milliseconds).
func (s State) Expired(now int64) bool { return s.ExpireAt != 0 && now >= s.ExpireAt }

// Record is a state and the version that names it.
type Record struct {
	Version Version
	State   State
}

// EffectKind says how a command changes the state of its key.
type EffectKind uint8

// The kinds of effects.
const (
	// Unchanged: the command is a read, or turned out to have no effect.
	Unchanged EffectKind = iota
	// Replaced: the new state replaces the old one.
	Replaced
	// Changed: Delta turns the old state into the new one, and is much smaller
	// than the new state.
	Changed
	// Patched is Changed by a Patch: the bytes of State from At on are to be those of Delta. See Effect.Whole.
	Patched
)

// Change is what a write does to one key. What a command does to a slot is a list of changes under one version, which are accepted, staged and made durable
// together. Today it is of length one.
type Change struct {
	// Key is borrowed.
	Key []byte
	// State is the whole new state. With IsDelta it does not travel, and of a Patch it is not there: nobody has to make it.
	State State
	// IsDelta: the state is what Delta makes of the record of version Base, which the key has.
	IsDelta bool
	Base    Version
	Delta   []byte
}

// Effect is what a command does to the state of its key. It is decided once, at
// the home, and is deterministic from then on: "now" and random choices are
// already in it.
type Effect struct {
	Kind EffectKind
	// State is the whole new state (Replaced and Changed), or that which is to be patched. A Value of up to CopiedValue bytes is borrowed: it may be an argument of the command,
	// that of the old state, or behind the reply in the reply's buffer, where it is good until that is appended to. A longer one may be kept.
	State State
	// At is where Delta is to be (Patched only).
	At int
	// Delta (Changed) is understood by the data type that made it. Of a patch (Patched) it is the bytes. One of up to CopiedValue bytes is borrowed as a Value is.
	Delta []byte
}

// Patch returns the patch that the effect is (Patched).
func (e Effect) Patch() Patch { return Patch{e.At, e.Delta} }

// Whole returns the whole new state. It makes that which a patch leads to.
func (e Effect) Whole() State {
	if e.Kind != Patched {
		return e.State
	}
	return e.Patch().Of(e.State, nil)
}

// SlotMeta is the durable state of a slot as a whole (rules R1, R3, R13).
type SlotMeta struct {
	// Epoch is the highest ring epoch this replica has acted under.
	Epoch uint64
	// Promised is the highest ballot this replica has promised.
	Promised Ballot
	// Floor is the highest version of a purged tombstone.
	Floor Version
	// Cleared is the version of the last slot-wide clear: every key of the slot
	// that has no newer record is a tombstone of this version.
	Cleared Version
	// Rebuilding: not all records that this replica has acknowledged are there; they are being copied
	// from the other members. It does not vote.
	Rebuilding bool
	// Unsure: nobody knows whether Cleared was chosen. It is a copy that was taken when members were changed, and counts for no agreement.
	Unsure bool
}
