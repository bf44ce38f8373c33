// Package engine defines what a node needs of a store, and nothing of how it is
// done. Implementations live in the packages below it; all pass the suite in
// enginetest.
//
// # Staging and committing
//
// A durable engine shares one fsync between many writes, and the replication
// protocol must not show anybody what a power cut could take back (rule R2). So
// every write is staged, which is cheap and visible at once to Get and Scan, and
// Commit reports when what was staged before the call is durable. Whoever read or
// wrote through an Engine withholds every reply that depends on it until a Commit
// issued afterwards has called back. Staged writes become durable in the order in
// which they were staged; after a crash a prefix of them is there.
//
// # Concurrency
//
// Calls that name the same slot are serialised by the caller. Calls for different
// slots, Commit and Totals may run at the same time.
package engine

import (
	"errors"
	"fmt"
	"time"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/ring"
)

// ErrCorrupt is returned (wrapped) for data that cannot be read as it was
// written. The caller stops voting for what it touches; it never takes it for
// "absent".
var ErrCorrupt = errors.New("engine: corrupt data")

// ErrClosed is returned by every call on a closed engine, a second Close too.
var ErrClosed = errors.New("engine: closed")

// ErrSlot is returned (wrapped) for a slot number that is not below Slots. It is a
// mistake of the caller and changes nothing.
var ErrSlot = errors.New("engine: no such slot")

// ErrPatch is returned (wrapped) for a patch of a record that is not there, or that it is not of. It is a mistake of the caller
// and changes nothing.
var ErrPatch = errors.New("engine: a patch of another record")

// ErrFull is returned (wrapped) by Room, and by writes, when there is no space to keep
// more. It goes away when there is space again. A write that fails so has staged
// nothing.
var ErrFull = errors.New("engine: no space")

// ErrCrowded is returned (wrapped) by Room when there is no space left for more data, though there is for what a deletion
// writes, and for the states of slots. It goes away when there is less data.
var ErrCrowded = errors.New("engine: no space for more data")

// ErrBrimful is ErrCrowded with so much data that what others have written has no space either.
var ErrBrimful = fmt.Errorf("%w, from other nodes either", ErrCrowded)

// ErrGone is returned (wrapped) by Present when files of the engine were deleted or replaced.
var ErrGone = errors.New("engine: a file was deleted or replaced while it was in use")

// Slots is the number of slots, as in Redis Cluster.
const Slots = ring.Slots

// Position orders the keys of a slot for Scan. It is a 48-bit hash of the key,
// the same in every engine and on every node, so that scans of several replicas
// can be merged.
type Position uint64

// EndPosition is above every Position.
const EndPosition Position = 1 << 48

// SlotStats counts what a slot holds.
type SlotStats struct {
	// Live and Tombstones count records by whether their state is live (an expired
	// record that nobody has looked at yet is live).
	Live, Tombstones uint64
	// Others are those of the live records that are of another database than 0.
	Others uint64
	// Bytes is the length of the live keys and values.
	Bytes uint64
	// Digest is the sum of a 64-bit mix of the versions of the live records. Two
	// replicas with equal Live and Digest hold the same live records: a version
	// names one state of one key.
	Digest uint64
	// TombstoneDigest is the same for the tombstones.
	TombstoneDigest uint64
}

// Instant is an engine that forgets everything when it ends: what is staged is as durable at once as it will ever be,
// and Commit calls back before it returns.
type Instant interface {
	Engine
	Instant()
}

// Syncer is an engine whose Commit may call back before what was staged is durable (--fsync interval).
type Syncer interface {
	Engine
	// Sync makes everything durable that was staged before, and waits for it.
	Sync() error
}

// Engine stores the records and the slot states of one node.
type Engine interface {
	// Slot returns the state of a slot, zero if there is none.
	Slot(slot uint16) (record.SlotMeta, error)

	// PutSlot stages the state of a slot.
	PutSlot(slot uint16, meta record.SlotMeta) error

	// Get returns the record of a key, and whether there is one. A Value of up to record.CopiedValue bytes is borrowed until
	// the next call for the slot has begun (State.Keep keeps it; Put may be given it), a longer one is immutable and remains valid for as long as the
	// caller keeps it; an empty one may be nil, whatever was put.
	Get(slot uint16, key []byte) (record.Record, bool, error)

	// Put stages a record. It copies rec.State.Value if that is up to record.CopiedValue bytes long, which may be what Get has
	// returned, and takes over a longer one, which nobody may change afterwards; key is copied.
	Put(slot uint16, key []byte, rec record.Record) error

	// Change is Put of the record that a delta makes of the one that the key has, whose version is base. A durable engine
	// need not write more than the delta: so it costs what the change is, and not what the value is. delta is borrowed.
	Change(slot uint16, key []byte, rec record.Record, base record.Version, delta []byte) error

	// Patch is Change by a delta that is a record.Patch of the record that the key has: that gets a version, and some bytes of its value
	// become others. It costs what they are: an engine may overwrite them where they are.
	Patch(slot uint16, key []byte, version, base record.Version, delta []byte) error

	// Delete stages the removal of a record (not a tombstone: the record is gone).
	Delete(slot uint16, key []byte) error

	// Clear stages the removal of every record of the slot whose version is not
	// above meta.Cleared, together with meta.
	Clear(slot uint16, meta record.SlotMeta) error

	// Reset stages the removal of every record of the slot, whatever its version, together with meta. It
	// reads none of them, so it is what ends ErrCorrupt of a slot.
	Reset(slot uint16, meta record.SlotMeta) error

	// Scan calls visit for the records of a slot, tombstones too, in ascending
	// order of Position starting at from. Keys with the same Position come in any
	// order. It ends when visit returns false or the slot is done. key is borrowed
	// for the call, and so is a Value of up to record.CopiedValue bytes; a longer one is as with Get. visit must not call the
	// engine.
	Scan(slot uint16, from Position, visit func(pos Position, key []byte, rec record.Record) bool) error

	// Expired calls visit with the keys of the live records of a slot that have expired
	// at a time (Unix milliseconds), in any order, until it returns false. It takes
	// constant time if there are none and the engine knows it, and reports whether it had
	// to look at the records. key is borrowed for the call. visit must not call the engine.
	Expired(slot uint16, now int64, visit func(key []byte) bool) (looked bool, err error)

	// Stats counts what a slot holds, in constant time. After an unclean stop of a
	// durable engine the first call may have to read the slot.
	Stats(slot uint16) (SlotStats, error)

	// Leaves returns the digests of a slot in parts. They add up to those that Stats returns, and take as
	// long.
	Leaves(slot uint16) (Leaves, error)

	// Correct replaces what Stats and Leaves say of a slot: its records have been counted, and that was
	// wrong, which is a fault of the engine.
	Correct(slot uint16, stats SlotStats, leaves Leaves) error

	// Totals sums Stats over all slots without blocking writers for long.
	Totals() (SlotStats, error)

	// Room reports whether there is space for what one batch of requests stages: nil, or
	// ErrFull, ErrCrowded or ErrBrimful wrapped in what is short of and how much is missing. It is cheap. Whoever
	// asks before a batch, and heeds it, never meets ErrFull in the middle of it.
	Room() error

	// Pause returns how long whoever brings new writes should wait before he brings more: what is written in the background is
	// behind. It is 0 nearly always, and cheap.
	Pause() time.Duration

	// Usage tells what the engine takes of the disk, as of some seconds ago at most;
	// zero for an engine that uses none.
	Usage() Usage

	// Present reports whether what the engine keeps on disk is still there: nil, ErrGone wrapped in what is not, or the
	// error that ended the engine. It asks the file system about some files.
	Present() error

	// Commit makes everything staged before the call durable and then calls done
	// exactly once, from any goroutine, maybe before Commit returns. An error is
	// final: the engine is not to be used any more.
	Commit(done func(error))

	// Close commits, releases everything and waits for the engine's goroutines.
	Close() error
}
