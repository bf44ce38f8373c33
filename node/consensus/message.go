package consensus

import "encoding/binary"

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

// header is in front of every message. It names both lives, so that what is meant for the former life of a node does not reach this one.
type header struct {
	kind     kind
	from, to uint64
}

const headerSize = 17

func (h header) append(b []byte) []byte {
	return appendFixed(appendFixed(append(b, byte(h.kind)), h.from), h.to)
}

func (d *decoder) header() header { return header{kind(d.byte()), d.fixed(), d.fixed()} }

// told is what a node knows of the group.
type told struct {
	leading bool   // the node itself
	commit  uint64 // of a leader: the index up to which it has applied the log
	voters  Voters
}

func (t told) append(b []byte) []byte {
	leading := byte(0)
	if t.leading {
		leading = 1
	}
	b = binary.AppendUvarint(append(b, leading), t.commit)
	b = binary.AppendUvarint(b, t.voters.Index)
	b = binary.AppendUvarint(b, uint64(len(t.voters.IDs)))
	for _, id := range t.voters.IDs {
		b = appendFixed(b, id)
	}
	return b
}

func (d *decoder) told() told {
	t := told{leading: d.byte() == 1, commit: d.uvarint(), voters: Voters{Index: d.uvarint()}}
	n := d.uvarint()
	if n > 2*MaxVoters+2 { // more never vote, also between two sets of voters
		d.fail()
		return told{}
	}
	for range n {
		t.voters.IDs = append(t.voters.IDs, d.fixed())
	}
	return t
}

// request identifies a proposal for ever: a life of a group, and a number in it.
type request struct{ session, seq uint64 }

func (r request) append(b []byte) []byte {
	return binary.AppendUvarint(appendFixed(b, r.session), r.seq)
}

func (d *decoder) request() request { return request{d.fixed(), d.uvarint()} }

// envelope is what the log holds: a proposal. It is not applied at an index above until.
type envelope struct {
	request
	until uint64
	entry []byte
}

func (e envelope) encode() []byte {
	b := binary.AppendUvarint(e.append(nil), e.until) // what names the request comes first
	return append(b, e.entry...)
}

func decodeEnvelope(b []byte) (envelope, error) {
	d := decoder{b: b}
	e := envelope{request: d.request(), until: d.uvarint()}
	e.entry = d.rest()
	return e, d.err
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
	b = binary.AppendUvarint(append(r.request.append(b), byte(r.outcome)), r.index)
	return appendBytes(b, r.value)
}

func (d *decoder) result() result {
	return result{request: d.request(), outcome: outcome(d.byte()), index: d.uvarint(), value: d.bytes()}
}
