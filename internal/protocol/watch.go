package protocol

import (
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
)

// A proxy that wants to hear when a key changes watches it at the key's replicas. Each replica says so whenever it is sent a newer version of the key,
// chosen or not. A write is chosen when a majority of the replicas hold it, and two majorities share a member: whoever watches a key at a majority of its replicas
// hears of every write that is chosen from then on. What he hears is a reason to look, no more.

// WatchKind says which changes of a key somebody wants to hear of.
type WatchKind uint8

// The kinds of watching. The numbers are part of the peer protocol.
const (
	// Unwatch ends that a key is watched.
	Unwatch WatchKind = iota
	// WatchFilled is for those who wait until the key holds something: deletions are not told.
	WatchFilled
	// WatchOnce is for those who keep what they have read: the first change is told, of whatever kind, and ends it.
	WatchOnce
	// WatchAll is for those who wait until something happens to the key: deletions are told, too.
	WatchAll
	// WatchPrefix is for those who want to hear of whatever happens to any key that begins, as clients name it, in some way. The slot is of no account.
	WatchPrefix
)

// WatchRequest begins, or ends, that a proxy watches a key.
type WatchRequest struct {
	// ID is the proxy's number for what it watches.
	ID   uint64
	Kind WatchKind
	// Slot and Key are of the key; of WatchPrefix Key is how keys begin. Unwatch has none.
	Slot uint16
	Key  []byte
}

// AppendWatch appends a request to a FrameWatch.
func AppendWatch(dst []byte, w *WatchRequest) []byte {
	dst = append(wire.AppendUvarint(dst, w.ID), byte(w.Kind))
	if w.Kind == Unwatch {
		return dst
	}
	return wire.AppendBytes(wire.AppendUint16(dst, w.Slot), w.Key)
}

// WatchFrame returns a whole FrameWatch, of one request.
func WatchFrame(w *WatchRequest) []byte {
	return wire.EndFrame(AppendWatch(wire.BeginFrame(nil, FrameWatch), w), 0)
}

// DecodeWatched returns the numbers in a FrameWatched.
func DecodeWatched(body []byte) ([]uint64, error) {
	d := wire.NewDecoder(body)
	var ids []uint64
	for d.More() && d.Err() == nil {
		ids = append(ids, d.Uvarint())
	}
	return ids, d.Done()
}

// DecodeWatch reads the next request of a FrameWatch. Its key is a view of the frame.
func DecodeWatch(d *wire.Decoder) (w WatchRequest) {
	w.ID, w.Kind = d.Uvarint(), WatchKind(d.Byte())
	switch {
	case w.Kind > WatchPrefix:
		d.Fail("unknown kind of watching")
	case w.Kind != Unwatch:
		w.Slot, w.Key = d.Uint16(), d.Bytes()
	}
	return w
}

// KeyChange says that a replica was sent a version of a key that is watched.
type KeyChange struct {
	ID      uint64
	Version record.Version
}

// AppendKeyChange appends a change to a FrameChanged.
func AppendKeyChange(dst []byte, c *KeyChange) []byte {
	return wire.AppendVersion(wire.AppendUvarint(dst, c.ID), c.Version)
}

// DecodeKeyChanges returns the changes in a FrameChanged.
func DecodeKeyChanges(body []byte) ([]KeyChange, error) {
	d := wire.NewDecoder(body)
	var list []KeyChange
	for d.More() && d.Err() == nil {
		list = append(list, KeyChange{ID: d.Uvarint(), Version: d.Version()})
	}
	return list, d.Done()
}

// PrefixChange says that a replica was sent a version of a key that begins as is watched, or that all keys of a slot are gone.
type PrefixChange struct {
	ID      uint64
	Slot    uint16
	Version record.Version
	// Cleared: it is of all keys of the slot, and Key is empty.
	Cleared bool
	Key     []byte
}

// AppendPrefixChange appends a change to a FramePrefixChanged.
func AppendPrefixChange(dst []byte, c *PrefixChange) []byte {
	dst = wire.AppendVersion(wire.AppendUint16(wire.AppendUvarint(dst, c.ID), c.Slot), c.Version)
	return wire.AppendBytes(wire.AppendBool(dst, c.Cleared), c.Key)
}

// DecodePrefixChanges returns the changes in a FramePrefixChanged. Their keys are views of the frame.
func DecodePrefixChanges(body []byte) ([]PrefixChange, error) {
	d := wire.NewDecoder(body)
	var list []PrefixChange
	for d.More() && d.Err() == nil {
		list = append(list, PrefixChange{ID: d.Uvarint(), Slot: d.Uint16(), Version: d.Version(), Cleared: d.Bool(), Key: d.Bytes()})
	}
	return list, d.Done()
}
