package replica

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/notify"
	"github.com/quolldb/quoll/internal/record"
)

// eventsStripe returns a stripe that executes commands.
func eventsStripe() *Stripe {
	h := &Host{opt: Options{MaxValue: 1 << 20, MaxCollection: 1 << 20}}
	h.view.Store(new(View))
	return &Stripe{host: h}
}

func setRequest(events notify.Class) *command.Request {
	return &command.Request{Op: command.OpSet, Args: [][]byte{[]byte("SET"), []byte("k"), []byte("value")}, Owned: true, Events: events}
}

// TestEventsPrecedeTheReply, and what the effect borrows is not behind the reply any more.
func TestEventsPrecedeTheReply(t *testing.T) {
	s := eventsStripe()
	now := int64(1)
	incr := &command.Request{Op: command.OpIncrBy, Args: [][]byte{[]byte("INCRBY"), []byte("k"), []byte("5")}, Owned: true, Events: notify.All | notify.New, Expired: true}
	reply, effect, err := s.Execute([]byte("before"), record.State{}, incr, now)
	require.NoError(t, err)
	require.Equal(t, "5", string(effect.State.Value))
	events, rest := notify.Cut(reply[len("before"):])
	require.Equal(t, ":5\r\n", string(rest))
	var names []string
	for e := range notify.Events(events) {
		names = append(names, string(e.Name))
	}
	require.Equal(t, []string{"expired", "new", "incrby"}, names)

	expire := &command.Request{Op: OpExpire, Args: [][]byte{nil, []byte("k")}, Events: notify.Expired, Expired: true}
	reply, _, err = s.Execute(nil, record.State{}, expire, now)
	require.NoError(t, err)
	events, rest = notify.Cut(reply)
	require.NotEmpty(t, events)
	require.Empty(t, rest)
	expire.Expired = false
	reply, _, err = s.Execute(nil, record.State{}, expire, now)
	require.NoError(t, err)
	require.Empty(t, reply, "to delete once more what is gone is no event")
}

// TestEventsOfEvictions: one that deletes the key says so, once; one that comes too late says nothing, and what has expired is said to have.
func TestEventsOfEvictions(t *testing.T) {
	s, live := eventsStripe(), record.State{Type: record.String, Value: []byte("v")}
	for _, c := range []struct {
		st             record.State
		stale, expired bool
		event, reply   string
		kind           record.EffectKind
	}{
		{st: live, event: "evicted", reply: ":1\r\n", kind: record.Replaced},
		{st: live, stale: true, reply: ":0\r\n"},
		{reply: ":0\r\n"},
		{expired: true, event: "expired", reply: ":0\r\n"},
	} {
		reply, effect, err := s.Execute(nil, c.st, &command.Request{Op: OpEvict, Args: [][]byte{nil, []byte("k")}, Events: notify.All, Stale: c.stale, Expired: c.expired}, 1)
		require.NoError(t, err)
		events, rest := notify.Cut(reply)
		names := ""
		for e := range notify.Events(events) {
			names += string(e.Name)
		}
		require.Equal(t, []any{c.event, c.reply, c.kind}, []any{names, string(rest), effect.Kind})
		require.False(t, effect.State.Live())
	}
}

// TestNobodyPaysForEvents: a write of which nobody wants to hear allocates nothing, and its reply is the command's.
func TestNobodyPaysForEvents(t *testing.T) {
	s, req := eventsStripe(), setRequest(0)
	st, dst := record.State{Type: record.String, Value: []byte("old")}, make([]byte, 0, 64)
	require.Zero(t, testing.AllocsPerRun(1000, func() {
		reply, _, err := s.Execute(dst, st, req, 1)
		if err != nil || string(reply) != "+OK\r\n" {
			panic(string(reply))
		}
	}))
}

func BenchmarkSetUnheard(b *testing.B) { benchmarkSet(b, 0) }

func BenchmarkSetHeard(b *testing.B) { benchmarkSet(b, notify.All) }

func benchmarkSet(b *testing.B, events notify.Class) {
	s, req := eventsStripe(), setRequest(events)
	st, dst := record.State{Type: record.String, Value: []byte("old")}, make([]byte, 0, 256)
	b.ReportAllocs()
	for b.Loop() {
		if _, _, err := s.Execute(dst, st, req, 1); err != nil {
			b.Fatal(err)
		}
	}
}
