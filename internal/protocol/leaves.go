package protocol

import "github.com/quolldb/quoll/internal/wire"

// LeafCount is the number of parts of a slot's digest: leaf i is of the positions of which the
// highest bits are i.
const LeafCount = 64

// AllLeaves are all leaves of a slot, as a ScanRequest asks for them.
const AllLeaves uint64 = 1<<LeafCount - 1

// SlotLeaves is what a replica holds in one slot, in parts that add up to the slot's digest.
type SlotLeaves struct {
	Slot   uint16
	Leaves [LeafCount]uint64
}

// AppendLeaves appends the payload of the reply: the slots that can be read.
func AppendLeaves(dst []byte, list []SlotLeaves) []byte {
	dst = wire.AppendUvarint(dst, uint64(len(list)))
	for i := range list {
		dst = wire.AppendUint16(dst, list[i].Slot)
		for _, leaf := range list[i].Leaves {
			dst = wire.AppendUint64(dst, leaf)
		}
	}
	return dst
}

// DecodeLeaves decodes it.
func DecodeLeaves(payload []byte) ([]SlotLeaves, error) {
	d := wire.NewDecoder(payload)
	list := make([]SlotLeaves, d.Count(2+8*LeafCount))
	for i := range list {
		list[i].Slot = d.Uint16()
		for leaf := range list[i].Leaves {
			list[i].Leaves[leaf] = d.Uint64()
		}
	}
	return list, d.Done()
}

// AppendScanLeavesRequest appends the payload of a MethodScanLeaves call, which asks for records of
// some leaves of each of some slots.
func AppendScanLeavesRequest(dst []byte, r ScanRequest) []byte {
	dst = appendScan(dst, &r)
	for i, slot := range r.Slots {
		dst = wire.AppendUint64(wire.AppendUint16(dst, slot), r.Leaves[i])
	}
	return dst
}

// DecodeScanLeavesRequest decodes it. One that asks for no slot is malformed.
func DecodeScanLeavesRequest(payload []byte) (ScanRequest, error) {
	d := wire.NewDecoder(payload)
	r := decodeScan(&d)
	for d.More() {
		r.Slots, r.Leaves = append(r.Slots, d.Uint16()), append(r.Leaves, d.Uint64())
	}
	if len(r.Slots) == 0 {
		d.Fail("a scan of no slot's leaves")
	}
	return r, d.Done()
}
