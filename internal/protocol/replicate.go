package protocol

import (
	"github.com/quolldb/quoll/internal/protocol/replication"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
)

// The body of a FrameReplicate is a sequence of requests, that of a FrameReplicateReply one of replies. Sender and receiver follow from the
// connection, and a version that is written is always of the message's ballot: they are not sent.

// deltaBit marks the kind of an Accept that carries a delta.
const deltaBit = 1 << 7

// AppendRequest appends a request of a home to the body of a FrameReplicate.
func AppendRequest(dst []byte, m *replication.Message) []byte { return AppendRequestAhead(dst, m, 0) }

// AppendRequestAhead is AppendRequest of an Accept whose value was sent ahead under a number; 0: it was not.
func AppendRequestAhead(dst []byte, m *replication.Message, id uint64) []byte {
	kind := byte(m.Kind)
	if m.IsDelta {
		kind |= deltaBit
	}
	dst = append(dst, kind)
	dst = wire.AppendUint16(dst, m.Slot)
	dst = wire.AppendUvarint(dst, m.Epoch)
	dst = wire.AppendBallot(dst, m.Ballot)
	dst = wire.AppendUvarint(dst, m.Round)
	switch m.Kind {
	case replication.SyncRead:
		dst = wire.AppendVersion(wire.AppendBytes(dst, m.Key), m.Base)
	case replication.Accept:
		dst = wire.AppendBytes(dst, m.Key)
		dst = wire.AppendUvarint(dst, m.Version.Seq)
		if m.IsDelta {
			dst = wire.AppendVersion(dst, m.Base)
			return wire.AppendBytes(dst, m.Delta)
		}
		return wire.AppendStateAhead(dst, m.State, id)
	case replication.Clear:
		dst = wire.AppendUvarint(dst, m.Version.Seq)
	case replication.Purge:
		dst = wire.AppendBytes(dst, m.Key)
		dst = wire.AppendVersion(dst, m.Version)
	}
	return dst
}

// DecodeRequest decodes the next request, except for sender and receiver. If d is Missing an object then, the request is as if it had been lost. A value of more than record.CopiedValue bytes,
// which a store would share, is copied; everything else is a view.
func DecodeRequest(d *wire.Decoder, m *replication.Message) {
	*m = replication.Message{}
	kind := d.Byte()
	m.Kind, m.IsDelta = replication.Kind(kind&^deltaBit), kind&deltaBit != 0
	m.Slot, m.Epoch, m.Ballot, m.Round = d.Uint16(), d.Uvarint(), d.Ballot(), d.Uvarint()
	switch m.Kind {
	case replication.Prepare, replication.Confirm:
	case replication.SyncRead:
		m.Key, m.Base = d.Bytes(), d.Version()
	case replication.Accept:
		m.Key = d.Bytes()
		m.Version = record.Version{Ballot: m.Ballot, Seq: d.Uvarint()}
		if m.IsDelta {
			m.Base, m.Delta = d.Version(), d.Bytes()
			return
		}
		m.State = d.SharedState()
	case replication.Clear:
		m.Version = record.Version{Ballot: m.Ballot, Seq: d.Uvarint()}
	case replication.Purge:
		m.Key, m.Version = d.Bytes(), d.Version()
	default:
		d.Fail("unknown kind of message")
	}
}

// AppendReply appends a replica's reply to the body of a FrameReplicateReply.
func AppendReply(dst []byte, m *replication.Message) []byte { return AppendReplyAhead(dst, m, 0) }

// AppendReplyAhead is AppendReply to a SyncRead whose value was sent ahead under a number; 0: it was not.
func AppendReplyAhead(dst []byte, m *replication.Message, id uint64) []byte {
	dst = append(dst, byte(m.Kind), byte(m.Result))
	dst = wire.AppendUint16(dst, m.Slot)
	dst = wire.AppendUvarint(dst, m.Epoch)
	dst = wire.AppendBallot(dst, m.Ballot)
	dst = wire.AppendUvarint(dst, m.Round)
	if m.Result == replication.StaleBallot {
		return wire.AppendBallot(dst, m.Promised)
	}
	switch m.Kind {
	case replication.Prepare:
		dst = wire.AppendBool(dst, m.Present)
	case replication.SyncRead:
		dst = wire.AppendBytes(dst, m.Key)
		dst = wire.AppendVersion(dst, m.Held)
		dst = wire.AppendBool(dst, m.Present)
		dst = wire.AppendVersion(dst, m.Floor)
		dst = wire.AppendBool(dst, m.Same || m.Unsure) // the first only of a record, the second only of none
		if m.Same {
			return dst
		}
		return wire.AppendStateAhead(dst, m.Found, id)
	case replication.Accept:
		dst = wire.AppendBytes(dst, m.Key)
		dst = wire.AppendVersion(dst, m.Held)
		if m.Result == replication.BelowFloor {
			dst = wire.AppendVersion(dst, m.Floor)
		}
	case replication.Clear:
		dst = wire.AppendVersion(dst, m.Held)
	}
	return dst
}

// DecodeReply decodes the next reply, as views, except for sender and receiver. If d is Missing an object then, the reply is as if it had been lost.
func DecodeReply(d *wire.Decoder, m *replication.Message) {
	*m = replication.Message{Reply: true, Kind: replication.Kind(d.Byte()), Result: replication.Result(d.Byte())}
	m.Slot, m.Epoch, m.Ballot, m.Round = d.Uint16(), d.Uvarint(), d.Ballot(), d.Uvarint()
	if m.Result == replication.StaleBallot {
		m.Promised = d.Ballot()
		return
	}
	switch m.Kind {
	case replication.Confirm, replication.Purge:
	case replication.Prepare:
		m.Present = d.Bool()
	case replication.SyncRead:
		m.Key, m.Held, m.Present, m.Floor = d.Bytes(), d.Version(), d.Bool(), d.Version()
		either := d.Bool()
		m.Same, m.Unsure = either && m.Present, either && !m.Present
		if !m.Same {
			m.Found = d.State()
		}
	case replication.Accept:
		m.Key, m.Held = d.Bytes(), d.Version()
		if m.Result == replication.BelowFloor {
			m.Floor = d.Version()
		}
	case replication.Clear:
		m.Held = d.Version()
	default:
		d.Fail("unknown kind of message")
	}
}
