package protocol

import (
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
)

// What members of a slot in a joint epoch ask each other for while one of them collects what it holds (rule R18). Whoever does not
// take part in exactly that epoch refuses.

// ShowRequest asks an old member which versions it holds, from a position on.
type ShowRequest struct {
	Slot  uint16
	Epoch uint64
	From  uint64
	// Limit is about how many bytes of records are to be shown.
	Limit int
}

// ShowPage is its answer: the versions of all its records between ShowRequest.From and Next, and at the same moment what it holds of the slot
// as a whole: Promised, Floor, Cleared and Unsure.
type ShowPage struct {
	Next    uint64
	Meta    record.SlotMeta
	Entries []ShowEntry
}

// ShowEntry says which version a member holds of a key, tombstones too.
type ShowEntry struct {
	Key     []byte
	Version record.Version
}

// AppendShowRequest appends the payload of a MethodShow call.
func AppendShowRequest(dst []byte, r ShowRequest) []byte {
	dst = wire.AppendUint16(dst, r.Slot)
	dst = wire.AppendUvarint(dst, r.Epoch)
	dst = wire.AppendUvarint(dst, r.From)
	return wire.AppendUvarint(dst, uint64(r.Limit))
}

// DecodeShowRequest decodes it.
func DecodeShowRequest(payload []byte) (ShowRequest, error) {
	d := wire.NewDecoder(payload)
	r := ShowRequest{Slot: d.Uint16(), Epoch: d.Uvarint(), From: d.Uvarint(), Limit: int(d.Uvarint() & (1<<31 - 1))}
	return r, d.Done()
}

// AppendShowPage appends the payload of the reply.
func AppendShowPage(dst []byte, p *ShowPage) []byte {
	dst = wire.AppendUvarint(dst, p.Next)
	dst = wire.AppendBallot(dst, p.Meta.Promised)
	dst = wire.AppendVersion(dst, p.Meta.Floor)
	dst = wire.AppendVersion(dst, p.Meta.Cleared)
	dst = wire.AppendBool(dst, p.Meta.Unsure)
	dst = wire.AppendUvarint(dst, uint64(len(p.Entries)))
	for i := range p.Entries {
		dst = wire.AppendVersion(wire.AppendBytes(dst, p.Entries[i].Key), p.Entries[i].Version)
	}
	return dst
}

// showEntrySize is the least that an entry takes.
const showEntrySize = 1 + 10

// DecodeShowPage decodes it. Keys are views into the payload.
func DecodeShowPage(payload []byte) (ShowPage, error) {
	d := wire.NewDecoder(payload)
	p := ShowPage{Next: d.Uvarint(), Meta: record.SlotMeta{Promised: d.Ballot(), Floor: d.Version(), Cleared: d.Version(), Unsure: d.Bool()}}
	p.Entries = make([]ShowEntry, 0, d.Count(showEntrySize))
	for range cap(p.Entries) {
		p.Entries = append(p.Entries, ShowEntry{Key: d.Bytes(), Version: d.Version()})
	}
	return p, d.Done()
}

// KeysRequest is about some keys of a slot in a joint epoch. A MethodFetch call asks for their records: the answer is a CopyPage of the first so many of them,
// at least one, in the same order; without a record the version is zero. A MethodAgain call has the member's home write them again.
type KeysRequest struct {
	Slot  uint16
	Epoch uint64
	Keys  [][]byte
}

// AppendKeysRequest appends the payload of a MethodFetch or MethodAgain call.
func AppendKeysRequest(dst []byte, r KeysRequest) []byte {
	dst = wire.AppendUint16(dst, r.Slot)
	dst = wire.AppendUvarint(dst, r.Epoch)
	dst = wire.AppendUvarint(dst, uint64(len(r.Keys)))
	for _, key := range r.Keys {
		dst = wire.AppendBytes(dst, key)
	}
	return dst
}

// DecodeKeysRequest decodes it. Keys are views into the payload.
func DecodeKeysRequest(payload []byte) (KeysRequest, error) {
	d := wire.NewDecoder(payload)
	r := KeysRequest{Slot: d.Uint16(), Epoch: d.Uvarint()}
	r.Keys = make([][]byte, 0, d.Count(1))
	for range cap(r.Keys) {
		r.Keys = append(r.Keys, d.Bytes())
	}
	return r, d.Done()
}

// AgainReply says which keys a home has written again.
type AgainReply struct {
	// Done has one entry for each key that was asked for: whether it was written, as far as is known.
	Done []bool
	// Bytes is about how much was written.
	Bytes uint64
	// Leader is the member that leads the slot as far as the home knows, 0 if it knows of none.
	Leader uint16
}

// AppendAgainReply appends the payload of the reply to a MethodAgain call.
func AppendAgainReply(dst []byte, r AgainReply) []byte {
	dst = wire.AppendUvarint(wire.AppendUint16(dst, r.Leader), r.Bytes)
	dst = wire.AppendUvarint(dst, uint64(len(r.Done)))
	for _, done := range r.Done {
		dst = wire.AppendBool(dst, done)
	}
	return dst
}

// DecodeAgainReply decodes what became of as many keys as were asked for.
func DecodeAgainReply(payload []byte, keys int) (AgainReply, error) {
	d := wire.NewDecoder(payload)
	r := AgainReply{Leader: d.Uint16(), Bytes: d.Uvarint()}
	n := d.Count(1)
	if n != keys {
		d.Fail("an answer about other keys")
	}
	for range n {
		r.Done = append(r.Done, d.Bool())
	}
	return r, d.Done()
}
