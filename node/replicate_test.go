package node

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/register"
)

var (
	ballots = rapid.Custom(func(t *rapid.T) record.Ballot {
		return record.Ballot{Counter: rapid.Uint64().Draw(t, "counter"), Incarnation: rapid.Uint64().Draw(t, "incarnation")}
	})
	versions = rapid.Custom(func(t *rapid.T) record.Version {
		return record.Version{Ballot: ballots.Draw(t, "ballot"), Seq: rapid.Uint64().Draw(t, "seq")}
	})
	someBytes = rapid.SliceOfN(rapid.Byte(), 1, 2*record.CopiedValue)
	states    = rapid.Custom(func(t *rapid.T) record.State {
		if rapid.Bool().Draw(t, "deleted") {
			return record.State{}
		}
		return record.State{Type: record.String, ExpireAt: rapid.Int64().Draw(t, "expiry"), Value: someBytes.Draw(t, "value")}
	})
	requests = rapid.Custom(func(t *rapid.T) register.Message {
		m := header(t)
		switch m.Kind {
		case register.SyncRead:
			m.Key = someBytes.Draw(t, "key")
		case register.Purge:
			m.Key, m.Version = someBytes.Draw(t, "key"), versions.Draw(t, "version")
		case register.Clear:
			m.Version = record.Version{Ballot: m.Ballot, Seq: rapid.Uint64().Draw(t, "seq")}
		case register.Accept:
			m.Key, m.Version = someBytes.Draw(t, "key"), record.Version{Ballot: m.Ballot, Seq: rapid.Uint64().Draw(t, "seq")}
			if m.IsDelta = rapid.Bool().Draw(t, "delta?"); m.IsDelta {
				m.Base, m.Delta = versions.Draw(t, "base"), someBytes.Draw(t, "delta")
			} else {
				m.State = states.Draw(t, "state")
			}
		}
		return m
	})
	replies = rapid.Custom(func(t *rapid.T) register.Message {
		m := header(t)
		m.Reply, m.Result = true, register.Result(rapid.IntRange(0, 4).Draw(t, "result"))
		if m.Result == register.StaleBallot {
			m.Promised = ballots.Draw(t, "promised")
			return m
		}
		switch m.Kind {
		case register.SyncRead:
			m.Key, m.Held, m.Present = someBytes.Draw(t, "key"), versions.Draw(t, "held"), rapid.Bool().Draw(t, "present")
			m.Floor, m.Found = versions.Draw(t, "floor"), states.Draw(t, "found")
		case register.Clear:
			m.Held = versions.Draw(t, "held")
		case register.Accept:
			m.Key, m.Held = someBytes.Draw(t, "key"), versions.Draw(t, "held")
			if m.Result == register.BelowFloor {
				m.Floor = versions.Draw(t, "floor")
			}
		}
		return m
	})
)

func header(t *rapid.T) register.Message {
	return register.Message{Kind: register.Kind(rapid.IntRange(1, 6).Draw(t, "kind")), Slot: rapid.Uint16().Draw(t, "slot"),
		Epoch: rapid.Uint64().Draw(t, "epoch"), Ballot: ballots.Draw(t, "ballot"), Round: rapid.Uint64().Draw(t, "round")}
}

// normal is a message with nil for empty slices.
func normal(m register.Message) register.Message {
	for _, b := range []*[]byte{&m.Key, &m.Delta, &m.State.Value, &m.Found.Value} {
		if len(*b) == 0 {
			*b = nil
		}
	}
	return m
}

func TestRequestsComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(requests, 1, 5).Draw(t, "requests")
		var body []byte
		for i := range want {
			body = appendRequest(body, &want[i])
		}
		d := wire.NewDecoder(body)
		got := make([]register.Message, len(want))
		for i := range got {
			decodeRequest(&d, &got[i])
		}
		require.NoError(t, d.Done())
		for i := range got {
			require.Equal(t, want[i], normal(got[i]))
		}
		clear(body) // the frame's buffer is used again: long values are the store's, and stay
		for i := range got {
			if len(want[i].State.Value) > record.CopiedValue {
				require.Equal(t, want[i].State.Value, got[i].State.Value)
			}
		}
	})
}

func TestRepliesComeBack(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := rapid.SliceOfN(replies, 1, 5).Draw(t, "replies")
		var body []byte
		for i := range want {
			body = appendReply(body, &want[i])
		}
		d := wire.NewDecoder(body)
		for i := range want {
			var m register.Message
			decodeReply(&d, &m)
			require.Equal(t, want[i], normal(m))
		}
		require.NoError(t, d.Done())
	})
}
