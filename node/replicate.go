package node

import (
	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/register"
)

// Register messages on the wire. Sender and receiver follow from the connection; a
// version that is written is always of the message's ballot. A frame's body is a
// sequence of messages.

const deltaBit = 1 << 7

// appendRequest appends a request of a home.
func appendRequest(dst []byte, m *register.Message) []byte {
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
	case register.SyncRead:
		dst = wire.AppendBytes(dst, m.Key)
	case register.Accept:
		dst = wire.AppendBytes(dst, m.Key)
		dst = wire.AppendUvarint(dst, m.Version.Seq)
		if m.IsDelta {
			dst = wire.AppendVersion(dst, m.Base)
			return wire.AppendBytes(dst, m.Delta)
		}
		return wire.AppendState(dst, m.State)
	case register.Clear:
		dst = wire.AppendUvarint(dst, m.Version.Seq)
	case register.Purge:
		dst = wire.AppendBytes(dst, m.Key)
		dst = wire.AppendVersion(dst, m.Version)
	}
	return dst
}

// decodeRequest decodes the next request. A value that the store would keep is copied;
// everything else is a view.
func decodeRequest(d *wire.Decoder, m *register.Message) {
	*m = register.Message{}
	kind := d.Byte()
	m.Kind, m.IsDelta = register.Kind(kind&^deltaBit), kind&deltaBit != 0
	m.Slot, m.Epoch, m.Ballot, m.Round = d.Uint16(), d.Uvarint(), d.Ballot(), d.Uvarint()
	switch m.Kind {
	case register.Prepare, register.Confirm:
	case register.SyncRead:
		m.Key = d.Bytes()
	case register.Accept:
		m.Key = d.Bytes()
		m.Version = record.Version{Ballot: m.Ballot, Seq: d.Uvarint()}
		if m.IsDelta {
			m.Base, m.Delta = d.Version(), d.Bytes()
			return
		}
		m.State = d.State()
		m.State.Value = own(m.State.Value)
	case register.Clear:
		m.Version = record.Version{Ballot: m.Ballot, Seq: d.Uvarint()}
	case register.Purge:
		m.Key, m.Version = d.Bytes(), d.Version()
	default:
		d.Fail("unknown kind of message")
	}
}

// own copies a borrowed value, unless the store will: see record.CopiedValue.
func own(value []byte) []byte {
	if len(value) <= record.CopiedValue {
		return value
	}
	return buffer.Clone(value)
}

// appendReply appends a replica's reply.
func appendReply(dst []byte, m *register.Message) []byte {
	dst = append(dst, byte(m.Kind), byte(m.Result))
	dst = wire.AppendUint16(dst, m.Slot)
	dst = wire.AppendUvarint(dst, m.Epoch)
	dst = wire.AppendBallot(dst, m.Ballot)
	dst = wire.AppendUvarint(dst, m.Round)
	if m.Result == register.StaleBallot {
		return wire.AppendBallot(dst, m.Promised)
	}
	switch m.Kind {
	case register.SyncRead:
		dst = wire.AppendBytes(dst, m.Key)
		dst = wire.AppendVersion(dst, m.Held)
		dst = wire.AppendBool(dst, m.Present)
		dst = wire.AppendVersion(dst, m.Floor)
		return wire.AppendState(dst, m.Found)
	case register.Accept:
		dst = wire.AppendBytes(dst, m.Key)
		dst = wire.AppendVersion(dst, m.Held)
		if m.Result == register.BelowFloor {
			dst = wire.AppendVersion(dst, m.Floor)
		}
	case register.Clear:
		dst = wire.AppendVersion(dst, m.Held)
	}
	return dst
}

// decodeReply decodes the next reply, as views.
func decodeReply(d *wire.Decoder, m *register.Message) {
	*m = register.Message{Reply: true, Kind: register.Kind(d.Byte()), Result: register.Result(d.Byte())}
	m.Slot, m.Epoch, m.Ballot, m.Round = d.Uint16(), d.Uvarint(), d.Ballot(), d.Uvarint()
	if m.Result == register.StaleBallot {
		m.Promised = d.Ballot()
		return
	}
	switch m.Kind {
	case register.Prepare, register.Confirm, register.Purge:
	case register.SyncRead:
		m.Key, m.Held, m.Present, m.Floor, m.Found = d.Bytes(), d.Version(), d.Bool(), d.Version(), d.State()
	case register.Accept:
		m.Key, m.Held = d.Bytes(), d.Version()
		if m.Result == register.BelowFloor {
			m.Floor = d.Version()
		}
	case register.Clear:
		m.Held = d.Version()
	default:
		d.Fail("unknown kind of message")
	}
}
