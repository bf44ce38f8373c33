package protocol

import (
	"encoding/binary"
	"slices"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/ring"
)

// SlotDigest is what a replica holds in one slot, in one number: a sum over the versions of
// all its records. Replicas with equal digests hold the same, unless by a chance of one in 2^64: a
// version names one state of one key.
type SlotDigest struct {
	Slot       uint16
	Digest     uint64
	Unreadable bool // its data is damaged: it takes no part
}

// AppendSlots appends the slots that are asked about: the payload of a MethodDigests or MethodLeaves call, and the end of
// a MethodScan call's.
func AppendSlots(dst []byte, slots []uint16) []byte {
	for _, slot := range slots {
		dst = wire.AppendUint16(dst, slot)
	}
	return dst
}

// DecodeSlots decodes it.
func DecodeSlots(payload []byte) ([]uint16, error) {
	d := wire.NewDecoder(payload)
	if len(payload) > 2*ring.Slots {
		d.Fail("more slots than there are")
	}
	var slots []uint16
	for d.More() {
		slot := d.Uint16()
		if slot >= ring.Slots {
			d.Fail("a slot that there is not")
		}
		slots = append(slots, slot)
	}
	return slots, d.Done()
}

// AppendSlotDigests appends the payload of a reply to MethodDigests: the slots that hold
// anything, or are damaged.
func AppendSlotDigests(dst []byte, digests []SlotDigest) []byte {
	dst = slices.Grow(dst, binary.MaxVarintLen64+slotDigestSize*len(digests))
	dst = wire.AppendUvarint(dst, uint64(len(digests)))
	for _, d := range digests {
		dst = wire.AppendBool(wire.AppendUint64(wire.AppendUint16(dst, d.Slot), d.Digest), d.Unreadable)
	}
	return dst
}

// slotDigestSize is the length of one in the payload, in bytes.
const slotDigestSize = 2 + 8 + 1

// DecodeSlotDigests decodes it, and hands over one after the other.
func DecodeSlotDigests(payload []byte, each func(SlotDigest)) error {
	d := wire.NewDecoder(payload)
	for range d.Count(slotDigestSize) {
		digest := SlotDigest{Slot: d.Uint16(), Digest: d.Uint64(), Unreadable: d.Bool()}
		if d.Err() != nil {
			break
		}
		each(digest)
	}
	return d.Done()
}

// SlotKey is a key with its slot.
type SlotKey struct {
	Slot uint16
	Key  []byte
}

// AppendVersionsRequest appends the payload of a MethodVersions call.
func AppendVersionsRequest(dst []byte, keys []SlotKey) []byte {
	dst = wire.AppendUvarint(dst, uint64(len(keys)))
	for _, k := range keys {
		dst = wire.AppendBytes(wire.AppendUint16(dst, k.Slot), k.Key)
	}
	return dst
}

// DecodeVersionsRequest decodes it. The keys are views into the payload.
func DecodeVersionsRequest(payload []byte) ([]SlotKey, error) {
	d := wire.NewDecoder(payload)
	n := d.Count(3)
	keys := make([]SlotKey, 0, n)
	for range n {
		keys = append(keys, SlotKey{Slot: d.Uint16(), Key: d.Bytes()})
	}
	return keys, d.Done()
}

// AppendVersions appends the payload of the reply: the version of the replica's record of each
// key, zero for none.
func AppendVersions(dst []byte, versions []record.Version) []byte {
	dst = wire.AppendUvarint(dst, uint64(len(versions)))
	for _, v := range versions {
		dst = wire.AppendVersion(dst, v)
	}
	return dst
}

// DecodeVersions decodes the versions of as many keys as were asked for.
func DecodeVersions(payload []byte, keys int) ([]record.Version, error) {
	d := wire.NewDecoder(payload)
	n := d.Count(10)
	if n != keys {
		d.Fail("versions of other keys")
	}
	versions := make([]record.Version, 0, n)
	for range n {
		versions = append(versions, d.Version())
	}
	return versions, d.Done()
}
