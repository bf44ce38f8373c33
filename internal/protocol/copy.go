package protocol

import (
	"errors"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
)

// CopyRequest asks a replica for its records of a slot, from a position on, by a member whose own
// replica is being rebuilt.
type CopyRequest struct {
	Slot  uint16
	Epoch uint64
	// Ballot is promised before anything is shown.
	Ballot record.Ballot
	From   uint64
	// Limit is about how many bytes of records are wanted; 0: only the promise.
	Limit int
}

// CopyEntry is a record, tombstones too.
type CopyEntry struct {
	Key []byte
	record.Record
}

// CopyPage is a replica's answer: all its records between CopyRequest.From and Next, and of the slot's
// state what others take over.
type CopyPage struct {
	Next           uint64
	Floor, Cleared record.Version
	Entries        []CopyEntry
}

// AppendCopyRequest appends the payload of a MethodCopy call.
func AppendCopyRequest(dst []byte, r CopyRequest) []byte {
	dst = wire.AppendUint16(dst, r.Slot)
	dst = wire.AppendUvarint(dst, r.Epoch)
	dst = wire.AppendBallot(dst, r.Ballot)
	dst = wire.AppendUvarint(dst, r.From)
	return wire.AppendUvarint(dst, uint64(r.Limit))
}

// DecodeCopyRequest decodes it.
func DecodeCopyRequest(payload []byte) (CopyRequest, error) {
	d := wire.NewDecoder(payload)
	r := CopyRequest{Slot: d.Uint16(), Epoch: d.Uvarint(), Ballot: d.Ballot(), From: d.Uvarint(), Limit: int(d.Uvarint() & (1<<31 - 1))}
	return r, d.Done()
}

// AppendCopyPage appends the payload of the reply. ahead, which may be nil, returns the number under which the object of a state is sent ahead of it, or 0.
func AppendCopyPage(dst []byte, p *CopyPage, ahead func(*record.State) uint64) []byte {
	dst = wire.AppendUvarint(dst, p.Next)
	dst = wire.AppendVersion(dst, p.Floor)
	dst = wire.AppendVersion(dst, p.Cleared)
	dst = wire.AppendUvarint(dst, uint64(len(p.Entries)))
	for i := range p.Entries {
		e := &p.Entries[i]
		dst = wire.AppendBytes(dst, e.Key)
		dst = wire.AppendVersion(dst, e.Version)
		var id uint64
		if ahead != nil {
			id = ahead(&e.State)
		}
		dst = wire.AppendStateAhead(dst, e.State, id)
	}
	return dst
}

// copyEntrySize is the least that an entry takes.
const copyEntrySize = 1 + 10 + 3

// ErrMissing is returned for a message without an object that should have come ahead of it. It can be asked for again.
var ErrMissing = errors.New("protocol: a large object did not come whole")

// DecodeCopyPage decodes it. Keys and values are views into the payload. The error is ErrMissing, or one for what is malformed.
func DecodeCopyPage(payload []byte, objects Objects) (CopyPage, error) {
	d := wire.NewDecoder(payload)
	d.Ahead = objects.Object
	p := CopyPage{Next: d.Uvarint(), Floor: d.Version(), Cleared: d.Version()}
	p.Entries = make([]CopyEntry, 0, d.Count(copyEntrySize))
	for range cap(p.Entries) {
		p.Entries = append(p.Entries, CopyEntry{Key: d.Bytes(), Record: record.Record{Version: d.Version(), State: d.State()}})
	}
	if err := d.Done(); err != nil || !d.Missing() {
		return p, err
	}
	return CopyPage{}, ErrMissing
}
