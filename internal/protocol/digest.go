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
	Changed    bool // others hold it since the version that was asked for, or may
}

// AppendSlots appends the payload of a MethodDigests or MethodLeaves call: the slots that are asked about, and the version of the ring as of which it is
// known who holds them. The node tells nothing of those that have changed since.
func AppendSlots(dst []byte, version uint64, slots []uint16) []byte {
	return appendSlots(AppendVersion(dst, version), slots)
}

func appendSlots(dst []byte, slots []uint16) []byte {
	for _, slot := range slots {
		dst = wire.AppendUint16(dst, slot)
	}
	return dst
}

// DecodeSlots decodes it.
func DecodeSlots(payload []byte) (version uint64, slots []uint16, err error) {
	d := wire.NewDecoder(payload)
	version = d.Uvarint()
	for d.More() {
		slot := d.Uint16()
		if len(slots) == ring.Slots {
			d.Fail("more slots than there are")
			break
		}
		if slot >= ring.Slots {
			d.Fail("a slot that there is not")
		}
		slots = append(slots, slot)
	}
	return version, slots, d.Done()
}

// AppendSlotDigests appends the payload of a reply to MethodDigests: the slots that hold
// anything, are damaged, or have changed.
func AppendSlotDigests(dst []byte, digests []SlotDigest) []byte {
	dst = slices.Grow(dst, binary.MaxVarintLen64+slotDigestSize*len(digests))
	dst = wire.AppendUvarint(dst, uint64(len(digests)))
	for _, d := range digests {
		dst = append(wire.AppendUint64(wire.AppendUint16(dst, d.Slot), d.Digest), d.flags())
	}
	return dst
}

const unreadableBit, changedBit = 1, 2

func (d *SlotDigest) flags() (flags byte) {
	if d.Unreadable {
		flags |= unreadableBit
	}
	if d.Changed {
		flags |= changedBit
	}
	return flags
}

// slotDigestSize is the length of one in the payload, in bytes.
const slotDigestSize = 2 + 8 + 1

// DecodeSlotDigests decodes it, and hands over one after the other.
func DecodeSlotDigests(payload []byte, each func(SlotDigest)) error {
	d := wire.NewDecoder(payload)
	for range d.Count(slotDigestSize) {
		digest := SlotDigest{Slot: d.Uint16(), Digest: d.Uint64()}
		flags := d.Byte()
		digest.Unreadable, digest.Changed = flags&unreadableBit != 0, flags&changedBit != 0
		if d.Err() != nil {
			break
		}
		each(digest)
	}
	return d.Done()
}

// AppendDurable appends the payload of a reply to MethodDurable: when what the node acknowledges is durable, and the digests of what is, which AppendSlotDigests has encoded; none of a node that keeps
// nothing.
func AppendDurable(dst []byte, keeps Durability, digests []byte) []byte {
	return append(append(dst, byte(keeps)), digests...)
}

// DecodeDurable decodes it, and hands over one digest after the other.
func DecodeDurable(payload []byte, each func(SlotDigest)) (Durability, error) {
	d := wire.NewDecoder(payload)
	keeps := Durability(d.Byte())
	switch {
	case d.Err() != nil:
	case keeps > OnDisk:
		d.Fail("a durability that there is not")
	case keeps == InMemory:
		return keeps, d.Done()
	default:
		return keeps, DecodeSlotDigests(payload[1:], each)
	}
	return 0, d.Err()
}

// SlotKey is a key with its slot.
type SlotKey struct {
	Slot uint16
	Key  []byte
}

// AppendVersionsRequest appends the payload of a MethodVersions call. version is that of the ring, as in AppendSlots: if some slot has changed since, the call fails.
func AppendVersionsRequest(dst []byte, version uint64, keys []SlotKey) []byte {
	dst = wire.AppendUvarint(AppendVersion(dst, version), uint64(len(keys)))
	for _, k := range keys {
		dst = wire.AppendBytes(wire.AppendUint16(dst, k.Slot), k.Key)
	}
	return dst
}

// DecodeVersionsRequest decodes it. The keys are views into the payload.
func DecodeVersionsRequest(payload []byte) (version uint64, keys []SlotKey, err error) {
	d := wire.NewDecoder(payload)
	version = d.Uvarint()
	n := d.Count(3)
	keys = make([]SlotKey, 0, n)
	for range n {
		keys = append(keys, SlotKey{Slot: d.Uint16(), Key: d.Bytes()})
	}
	return version, keys, d.Done()
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
