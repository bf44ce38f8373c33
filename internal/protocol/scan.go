package protocol

import (
	"fmt"
	"slices"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/ring"
)

// Place is a place in the order in which a cluster is scanned: slot<<48 | position.
type Place uint64

// EndPlace is after every key of every slot.
const EndPlace Place = ring.Slots << 48

// NewPlace returns the place of a position in a slot.
func NewPlace(slot uint16, position uint64) Place { return Place(slot)<<48 | Place(position) }

// Slot returns the place's slot; EndPlace has slot ring.Slots.
func (p Place) Slot() uint16 { return uint16(p >> 48) }

// Position returns the place's position in its slot.
func (p Place) Position() uint64 { return uint64(p) & (1<<48 - 1) }

// ScanRequest asks a node for its records from a place on, in order.
type ScanRequest struct {
	// Version is the one of the ring as of which whoever asks knows who holds the slots: the node tells of no slot that has changed since.
	Version uint64
	From    Place
	Limit   int // about so many records
	Of      Selection
	// Slots are the only ones that are asked for, in ascending order; none means all.
	Slots []uint16
	// Leaves are those of each of the Slots that are asked for, leaf i as bit i; none means all.
	// MethodScanLeaves only has them.
	Leaves []uint64
}

// Wants returns the leaves of a slot that are asked for.
func (r *ScanRequest) Wants(slot uint16) (leaves uint64) {
	if len(r.Slots) == 0 {
		return AllLeaves
	}
	i, found := slices.BinarySearch(r.Slots, slot)
	switch {
	case !found:
		return 0
	case len(r.Leaves) == 0:
		return AllLeaves
	default:
		return r.Leaves[i]
	}
}

// ScanEntry is one record that a replica holds.
type ScanEntry struct {
	Place   Place
	Key     []byte
	Version record.Version
	Type    record.Type // None for a tombstone or an expired value
}

// ScanPage is a node's answer: every record it holds between From and Next.
type ScanPage struct {
	Entries []ScanEntry
	Next    Place
}

// ErrPage is what is wrong with a page that answers nothing that was asked.
var ErrPage = fmt.Errorf("%w: a page that does not go on from where it was asked for", wire.ErrMalformed)

// Check returns an error unless the page can be the answer to a request: about as many
// records as were asked for, in order, and it goes on behind them. So an iteration ends,
// whatever a node says.
func (p *ScanPage) Check(r ScanRequest) error {
	last := r.From
	for i := range p.Entries {
		if p.Entries[i].Place < last {
			return ErrPage
		}
		last = p.Entries[i].Place
	}
	n, limit := len(p.Entries), max(r.Limit, 1)
	switch {
	case n > limit && p.Entries[limit-1].Place != last, // only keys of one place come together
		n == 0 && p.Next != EndPlace && (p.Next.Position() != 0 || p.Next.Slot() <= r.From.Slot()), // one ends early only before a slot of which nothing is told
		n > 0 && p.Next <= last,
		p.Next > EndPlace:
		return ErrPage
	}
	return nil
}

// AppendScanRequest appends the payload of a MethodScan call.
func AppendScanRequest(dst []byte, r ScanRequest) []byte {
	return appendSlots(appendScan(dst, &r), r.Slots)
}

// appendScan appends what all requests begin with.
func appendScan(dst []byte, r *ScanRequest) []byte {
	dst = wire.AppendUint64(AppendVersion(dst, r.Version), uint64(r.From))
	return append(wire.AppendUvarint(dst, uint64(r.Limit)), byte(r.Of))
}

func decodeScan(d *wire.Decoder) ScanRequest {
	return ScanRequest{Version: d.Uvarint(), From: Place(d.Uint64()), Limit: int(d.Uvarint() & (1<<31 - 1)), Of: Selection(d.Byte())}
}

// DecodeScanRequest decodes it.
func DecodeScanRequest(payload []byte) (ScanRequest, error) {
	d := wire.NewDecoder(payload)
	r := decodeScan(&d)
	for d.More() {
		r.Slots = append(r.Slots, d.Uint16())
	}
	return r, d.Done()
}

// AppendScanPage appends the payload of the reply.
func AppendScanPage(dst []byte, p *ScanPage) []byte {
	dst = wire.AppendUint64(dst, uint64(p.Next))
	dst = wire.AppendUvarint(dst, uint64(len(p.Entries)))
	for i := range p.Entries {
		e := &p.Entries[i]
		dst = wire.AppendUint64(dst, uint64(e.Place))
		dst = wire.AppendBytes(dst, e.Key)
		dst = wire.AppendVersion(dst, e.Version)
		dst = append(dst, byte(e.Type))
	}
	return dst
}

// DecodeScanPage decodes it. The keys are views into the payload.
func DecodeScanPage(payload []byte) (ScanPage, error) {
	d := wire.NewDecoder(payload)
	p := ScanPage{Next: Place(d.Uint64())}
	n := d.Count(20)
	p.Entries = make([]ScanEntry, 0, n)
	for range n {
		p.Entries = append(p.Entries, ScanEntry{Place: Place(d.Uint64()), Key: d.Bytes(), Version: d.Version(), Type: record.Type(d.Byte())})
	}
	return p, d.Done()
}

// SlotCount is what a replica holds in one slot. Others are those of the live records that are of another database than 0.
type SlotCount struct {
	Slot                 uint16
	Live, Others, Digest uint64
}

// AppendSlotCounts appends the payload of a reply to MethodStats: the slots that
// hold anything live, and those that have changed since the version that was asked for (AppendVersion).
func AppendSlotCounts(dst []byte, counts []SlotCount, changed []uint16) []byte {
	const usual = 2 + 2 + 1 + 8 // bytes of a slot
	dst = wire.AppendUvarint(slices.Grow(dst, usual*(len(counts)+1)), uint64(len(counts)))
	for _, c := range counts {
		dst = wire.AppendUint16(dst, c.Slot)
		dst = wire.AppendUvarint(dst, c.Live)
		dst = wire.AppendUvarint(dst, c.Others)
		dst = wire.AppendUint64(dst, c.Digest)
	}
	return appendSlots(dst, changed)
}

// DecodeSlotCounts decodes it.
func DecodeSlotCounts(payload []byte) (counts []SlotCount, changed []uint16, err error) {
	d := wire.NewDecoder(payload)
	n := d.Count(12)
	counts = make([]SlotCount, 0, n)
	for range n {
		counts = append(counts, SlotCount{Slot: d.Uint16(), Live: d.Uvarint(), Others: d.Uvarint(), Digest: d.Uint64()})
	}
	for d.More() {
		changed = append(changed, d.Uint16())
	}
	return counts, changed, d.Done()
}
