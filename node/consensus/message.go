package consensus

import "github.com/quolldb/quoll/internal/wire"

// What nodes say to each other: a header and, by its kind, a body.

// kind says what a message is. The numbers are part of the peer protocol.
type kind byte

const (
	kindRaft    kind = 1 // a message of the library
	kindPiece   kind = 2 // a piece of a message that is too long for one
	kindAsk     kind = 3 // who leads?
	kindTold    kind = 4 // the answer: told
	kindPropose kind = 5 // an envelope for the leader
	kindResult  kind = 6 // what became of it: result
)

// header is in front of every message. It names both lives, so that what is meant for the former life of a node does not reach this one, and the group, so that
// one that was founded again hears nothing from the one before it.
type header struct {
	kind     kind
	from, to uint64
	group    uint64 // Config.Refounded
}

// headerSize is how long a header is at most. One of a group as it formed has no number of it.
const (
	headerSize  = shortHeader + 8
	shortHeader = 17
)

// refounded is set in the kind of a message that names its group.
const refounded = 0x80

func (h header) append(b []byte) []byte {
	k := byte(h.kind)
	if h.group != 0 {
		k |= refounded
	}
	b = wire.AppendUint64(wire.AppendUint64(append(b, k), h.from), h.to)
	if h.group != 0 {
		b = wire.AppendUint64(b, h.group)
	}
	return b
}

// Sender returns the ID of the node that a message says it is of, 0 of none. Whoever has a message from somebody else throws it away.
func Sender(message []byte) uint64 {
	d := wire.NewDecoder(message)
	h := readHeader(&d)
	if d.Err() != nil {
		return 0
	}
	return h.from
}

func readHeader(d *wire.Decoder) header {
	k := d.Byte()
	h := header{kind: kind(k &^ refounded), from: d.Uint64(), to: d.Uint64()}
	if k&refounded != 0 {
		h.group = d.Uint64()
	}
	return h
}

// told is what a node knows of the group.
type told struct {
	leading bool   // the node itself
	commit  uint64 // of a leader: the index up to which it has applied the log
	voters  Voters
}

func (t told) append(b []byte) []byte {
	b = wire.AppendUvarint(wire.AppendBool(b, t.leading), t.commit)
	b = wire.AppendUint64(b, t.voters.Formation)
	b = wire.AppendUvarint(b, t.voters.Index)
	b = wire.AppendUvarint(b, uint64(len(t.voters.IDs)))
	for _, id := range t.voters.IDs {
		b = wire.AppendUint64(b, id)
	}
	return b
}

func readTold(d *wire.Decoder) told {
	t := told{leading: d.Byte() == 1, commit: d.Uvarint(), voters: Voters{Formation: d.Uint64(), Index: d.Uvarint()}}
	n := d.Uvarint()
	if n > 2*MaxVoters+2 { // more never vote, also between two sets of voters
		d.Fail("too many voters")
		return told{}
	}
	for range n {
		t.voters.IDs = append(t.voters.IDs, d.Uint64())
	}
	return t
}

// request identifies a proposal for ever: a life of a group, and a number in it.
type request struct{ session, seq uint64 }

func (r request) append(b []byte) []byte {
	return wire.AppendUvarint(wire.AppendUint64(b, r.session), r.seq)
}

func readRequest(d *wire.Decoder) request { return request{d.Uint64(), d.Uvarint()} }

// envelope is what the log holds: a proposal. It is not applied at an index above until.
type envelope struct {
	request
	until uint64
	entry []byte
}

func (e envelope) encode() []byte {
	b := wire.AppendUvarint(e.append(nil), e.until) // what names the request comes first
	return append(b, e.entry...)
}

func decodeEnvelope(b []byte) (envelope, error) {
	d := wire.NewDecoder(b)
	e := envelope{request: readRequest(&d), until: d.Uvarint()}
	e.entry = d.Rest()
	return e, d.Err()
}

// outcome is what became of a proposal. The numbers are part of the peer protocol, and of snapshots.
type outcome byte

const (
	applied outcome = 1
	refused outcome = 2 // by the machine: value is why
	expired outcome = 3 // this copy was too late; an earlier one may have been applied
	later   outcome = 4 // this copy went to no leader
)

// result answers a proposal.
type result struct {
	request
	outcome outcome
	index   uint64
	value   []byte
}

func (r result) append(b []byte) []byte {
	b = wire.AppendUvarint(append(r.request.append(b), byte(r.outcome)), r.index)
	return wire.AppendBytes(b, r.value)
}

func readResult(d *wire.Decoder) result {
	return result{request: readRequest(d), outcome: outcome(d.Byte()), index: d.Uvarint(), value: d.Bytes()}
}
