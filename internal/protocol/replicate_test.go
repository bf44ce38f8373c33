package protocol

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/protocol/replication"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
)

var (
	ballots = rapid.Custom(func(t *rapid.T) record.Ballot {
		return record.Ballot{Counter: rapid.Uint64().Draw(t, "counter"), Incarnation: rapid.Uint64().Draw(t, "incarnation")}
	})
	someBytes = rapid.SliceOfN(rapid.Byte(), 1, 2*record.CopiedValue)
	states    = rapid.Custom(func(t *rapid.T) record.State {
		if rapid.Bool().Draw(t, "deleted") {
			return record.State{}
		}
		return record.State{Type: record.String, ExpireAt: rapid.Int64().Draw(t, "expiry"), Value: someBytes.Draw(t, "value")}
	})
	requests = rapid.Custom(func(t *rapid.T) replication.Message {
		m := header(t)
		switch m.Kind {
		case replication.SyncRead:
			m.Key, m.Base = someBytes.Draw(t, "key"), versions.Draw(t, "base")
		case replication.Purge:
			m.Key, m.Version = someBytes.Draw(t, "key"), versions.Draw(t, "version")
		case replication.Clear:
			m.Version = record.Version{Ballot: m.Ballot, Seq: rapid.Uint64().Draw(t, "seq")}
		case replication.Accept:
			m.Key, m.Version = someBytes.Draw(t, "key"), record.Version{Ballot: m.Ballot, Seq: rapid.Uint64().Draw(t, "seq")}
			if m.IsDelta = rapid.Bool().Draw(t, "delta?"); m.IsDelta {
				m.Base, m.Delta = versions.Draw(t, "base"), someBytes.Draw(t, "delta")
			} else {
				m.State = states.Draw(t, "state")
			}
		}
		return m
	})
	replies = rapid.Custom(func(t *rapid.T) replication.Message {
		m := header(t)
		m.Reply, m.Result = true, replication.Result(rapid.IntRange(0, 4).Draw(t, "result"))
		if m.Result == replication.StaleBallot {
			m.Promised = ballots.Draw(t, "promised")
			return m
		}
		switch m.Kind {
		case replication.Prepare:
			m.Present = rapid.Bool().Draw(t, "batch open")
		case replication.SyncRead:
			m.Key, m.Held, m.Present = someBytes.Draw(t, "key"), versions.Draw(t, "held"), rapid.Bool().Draw(t, "present")
			either := rapid.Bool().Draw(t, "same or unsure")
			m.Same, m.Unsure = either && m.Present, either && !m.Present
			if m.Floor = versions.Draw(t, "floor"); !m.Same {
				m.Found = states.Draw(t, "found")
			}
		case replication.Clear:
			m.Held = versions.Draw(t, "held")
		case replication.Accept:
			m.Key, m.Held = someBytes.Draw(t, "key"), versions.Draw(t, "held")
			if m.Result == replication.BelowFloor {
				m.Floor = versions.Draw(t, "floor")
			}
		}
		return m
	})
)

func header(t *rapid.T) replication.Message {
	return replication.Message{Kind: replication.Kind(rapid.IntRange(1, 6).Draw(t, "kind")), Slot: rapid.Uint16().Draw(t, "slot"),
		Epoch: rapid.Uint64().Draw(t, "epoch"), Ballot: ballots.Draw(t, "ballot"), Round: rapid.Uint64().Draw(t, "round")}
}

// normal is a message with nil for empty slices.
func normal(m replication.Message) replication.Message {
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
			body = AppendRequest(body, &want[i])
		}
		d := wire.NewDecoder(body)
		got := make([]replication.Message, len(want))
		for i := range got {
			DecodeRequest(&d, &got[i])
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
			body = AppendReply(body, &want[i])
		}
		d := wire.NewDecoder(body)
		for i := range want {
			var m replication.Message
			DecodeReply(&d, &m)
			require.Equal(t, want[i], normal(m))
		}
		require.NoError(t, d.Done())
	})
}

func FuzzDecodeRequest(f *testing.F) {
	seedMessages(f, AppendRequest)
	f.Add([]byte{byte(replication.Accept), 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0, 255, 255, 255, 255, 15}) // a value that is not there
	f.Fuzz(func(t *testing.T, body []byte) {
		d := wire.NewDecoder(body)
		var m, same replication.Message
		DecodeRequest(&d, &m)
		require.LessOrEqual(t, cap(m.State.Value), len(body), "no memory for what is only declared")
		if d.Err() != nil {
			return
		}
		require.False(t, m.Reply)
		again := wire.NewDecoder(AppendRequest(nil, &m))
		DecodeRequest(&again, &same)
		require.NoError(t, again.Done())
		require.Equal(t, normal(m), normal(same))
	})
}

func FuzzDecodeReply(f *testing.F) {
	seedMessages(f, AppendReply)
	f.Fuzz(func(t *testing.T, body []byte) {
		d := wire.NewDecoder(body)
		var m, same replication.Message
		DecodeReply(&d, &m)
		if d.Err() != nil {
			return
		}
		require.True(t, m.Reply)
		again := wire.NewDecoder(AppendReply(nil, &m))
		DecodeReply(&again, &same)
		require.NoError(t, again.Done())
		require.Equal(t, normal(m), normal(same))
	})
}

// messages are messages of every kind and result.
func messages() (list []replication.Message) {
	b := record.Ballot{Counter: 1, Incarnation: 2}
	v := record.Version{Ballot: b, Seq: 3}
	for kind := range replication.Kind(8) {
		for result := range replication.Result(5) {
			list = append(list, replication.Message{Kind: kind, Result: result, Epoch: 1, Ballot: b, Version: v, Held: v,
				Change: record.Change{Key: []byte("k"), IsDelta: result > 0, Delta: []byte("d"), State: record.State{Type: record.String, Value: []byte("v")}}})
		}
	}
	return list
}

func seedMessages(f *testing.F, encode func(dst []byte, m *replication.Message) []byte) {
	for _, m := range messages() {
		f.Add(encode(nil, &m))
	}
	f.Add([]byte{})
}
