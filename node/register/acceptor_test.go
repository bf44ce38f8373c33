package register

import (
	"errors"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype"
)

func ballot(counter uint64) record.Ballot {
	return record.Ballot{Counter: counter, Incarnation: record.NewIncarnation(7, 1)}
}

func version(counter, seq uint64) record.Version {
	return record.Version{Ballot: ballot(counter), Seq: seq}
}

// replica is an acceptor in epoch 5 that has promised ballot 10, has purged a
// tombstone of 8.8, and holds "held" = long as of version 9.3.
func replica(t *testing.T) (*Acceptor, *fakeStore) {
	store := &fakeStore{
		meta:    record.SlotMeta{Epoch: 5, Promised: ballot(10), Floor: version(8, 8)},
		records: map[string]record.Record{"held": {Version: version(9, 3), State: text(long)}},
	}
	a, err := NewAcceptor(0, store, datatype.Apply)
	require.NoError(t, err)
	return &a, store
}

func handle(t *testing.T, a *Acceptor, m Message) Message {
	t.Helper()
	var reply Message
	m.From, m.To, m.Round = 2, 1, 77
	require.NoError(t, execute(a, &m, &reply))
	require.True(t, reply.Reply)
	require.Equal(t, []any{m.Kind, m.Ballot, uint64(77), m.Key}, []any{reply.Kind, reply.Ballot, reply.Round, reply.Key})
	require.Equal(t, []uint16{1, 2}, []uint16{reply.From, reply.To})
	return reply
}

// every returns one message of each kind.
func every(epoch uint64, b record.Ballot) []Message {
	v := record.Version{Ballot: b, Seq: 1}
	return []Message{
		{Kind: Prepare, Epoch: epoch, Ballot: b},
		{Kind: SyncRead, Epoch: epoch, Ballot: b, Change: record.Change{Key: []byte("held")}},
		{Kind: Accept, Epoch: epoch, Ballot: b, Version: v, Change: record.Change{Key: []byte("held"), State: text("new")}},
		{Kind: Confirm, Epoch: epoch, Ballot: b},
		{Kind: Purge, Epoch: epoch, Ballot: b, Version: version(9, 3), Change: record.Change{Key: []byte("held")}},
		{Kind: Clear, Epoch: epoch, Ballot: b, Version: v},
	}
}

func TestR1OlderEpochIsRefusedWithoutATrace(t *testing.T) {
	for _, m := range every(4, ballot(20)) {
		a, store := replica(t)
		reply := handle(t, a, m)
		require.Equal(t, StaleEpoch, reply.Result, m.Kind)
		require.EqualValues(t, 5, reply.Epoch, "says what the replica is in")
		require.Zero(t, store.writes, m.Kind)
	}
}

func TestR1NewerEpochIsAdoptedBeforeActing(t *testing.T) {
	for _, m := range every(6, ballot(1)) { // the ballot is stale: the epoch is adopted all the same
		a, store := replica(t)
		reply := handle(t, a, m)
		require.EqualValues(t, 6, reply.Epoch)
		require.EqualValues(t, 6, store.meta.Epoch, m.Kind)
		if m.Kind != Purge {
			require.Equal(t, StaleBallot, reply.Result, m.Kind)
		}
	}
	a, store := replica(t)
	current, err := adopt(a, 5)
	require.True(t, current)
	require.NoError(t, err)
	require.Zero(t, store.writes)
}

func TestR3PrepareIsStrict(t *testing.T) {
	for counter, want := range map[uint64]Result{9: StaleBallot, 10: StaleBallot, 11: OK} {
		a, store := replica(t)
		reply := handle(t, a, Message{Kind: Prepare, Epoch: 5, Ballot: ballot(counter)})
		require.Equal(t, want, reply.Result)
		require.Equal(t, ballot(max(10, counter)), store.meta.Promised)
		require.Equal(t, store.meta.Promised, reply.Promised)
	}
	t.Run("the incarnation decides between equal counters", func(t *testing.T) {
		a, _ := replica(t)
		rival := record.Ballot{Counter: 10, Incarnation: ballot(10).Incarnation + 1}
		require.Equal(t, OK, handle(t, a, Message{Kind: Prepare, Epoch: 5, Ballot: rival}).Result)
	})
}

func TestR5SyncReadPromises(t *testing.T) {
	for counter, want := range map[uint64]struct {
		result Result
		writes int
	}{9: {StaleBallot, 0}, 10: {OK, 0}, 11: {OK, 1}} {
		a, store := replica(t)
		reply := handle(t, a, Message{Kind: SyncRead, Epoch: 5, Ballot: ballot(counter), Change: record.Change{Key: []byte("held")}})
		require.Equal(t, want.result, reply.Result)
		require.Equal(t, want.writes, store.writes)
		require.Equal(t, ballot(max(10, counter)), store.meta.Promised)
		if want.result == OK {
			require.Equal(t, version(9, 3), reply.Held)
			require.Equal(t, text(long), reply.Found)
			require.Equal(t, version(8, 8), reply.Floor)
			require.True(t, reply.Present)
		}
	}
	a, _ := replica(t)
	reply := handle(t, a, Message{Kind: SyncRead, Epoch: 5, Ballot: ballot(10), Change: record.Change{Key: []byte("absent")}})
	require.False(t, reply.Present)
	require.True(t, reply.Held.IsZero())
}

// TestR6Accept goes through the checks in their order: where several would refuse,
// the earlier one must.
func TestR6Accept(t *testing.T) {
	full := func(counter, seq uint64, key string) Message {
		return Message{Kind: Accept, Ballot: ballot(counter), Version: version(counter, seq), Change: record.Change{Key: []byte(key), State: text("new")}}
	}
	delta := func(counter, seq uint64, key string, base record.Version) Message {
		m := full(counter, seq, key)
		_, effect := datatype.Execute(nil, text(long), appendRequest("new"), 0)
		m.State, m.IsDelta, m.Base, m.Delta = record.State{}, true, base, effect.Delta
		return m
	}
	for name, test := range map[string]struct {
		m     Message
		prior func(*fakeStore)
		want  Result
		held  record.Version // that the reply names
		value string         // of the key afterwards
	}{
		"below the promise":                  {m: full(9, 9, "held"), want: StaleBallot, value: long},
		"below the promise, held already":    {m: full(9, 3, "held"), want: StaleBallot, value: long},
		"below the promise, below the floor": {m: full(8, 1, "absent"), want: StaleBallot},
		"record of a higher ballot": {m: full(10, 9, "held"), want: StaleBallot, held: version(11, 1), value: "later",
			prior: func(s *fakeStore) {
				s.records["held"] = record.Record{Version: version(11, 1), State: text("later")}
			}},
		"held already": {m: full(10, 4, "held"), want: OK, held: version(10, 4), value: "same",
			prior: func(s *fakeStore) {
				s.records["held"] = record.Record{Version: version(10, 4), State: text("same")}
			}},
		"a later one is held": {m: full(10, 4, "held"), want: OK, held: version(10, 6), value: "later",
			prior: func(s *fakeStore) {
				s.records["held"] = record.Record{Version: version(10, 6), State: text("later")}
			}},
		"a later one is held, delta on another base": {m: delta(10, 4, "held", version(10, 2)), want: OK, held: version(10, 6), value: "later",
			prior: func(s *fakeStore) {
				s.records["held"] = record.Record{Version: version(10, 6), State: text("later")}
			}},
		"absent, below the floor":     {m: full(10, 4, "absent"), want: BelowFloor, prior: func(s *fakeStore) { s.meta.Floor = version(10, 9) }},
		"absent, exactly the floor":   {m: full(10, 9, "absent"), want: BelowFloor, prior: func(s *fakeStore) { s.meta.Floor = version(10, 9) }},
		"absent, above the floor":     {m: full(10, 10, "absent"), want: OK, held: version(10, 10), value: "new", prior: func(s *fakeStore) { s.meta.Floor = version(10, 9) }},
		"present, the floor is above": {m: full(10, 4, "held"), want: OK, held: version(10, 4), value: "new", prior: func(s *fakeStore) { s.meta.Floor = version(10, 9) }},
		"absent, below the floor, a delta": {m: delta(10, 4, "absent", version(10, 3)), want: BelowFloor,
			prior: func(s *fakeStore) { s.meta.Floor = version(10, 9) }},
		"delta on another base":    {m: delta(10, 4, "held", version(9, 2)), want: NeedFull, held: version(9, 3), value: long},
		"delta on a missing base":  {m: delta(10, 4, "absent", version(9, 3)), want: NeedFull},
		"delta on its base":        {m: delta(10, 4, "held", version(9, 3)), want: OK, held: version(10, 4), value: long + "new"},
		"full, of a higher ballot": {m: full(11, 1, "held"), want: OK, held: version(11, 1), value: "new"},
		"full, absent":             {m: full(10, 4, "absent"), want: OK, held: version(10, 4), value: "new"},
		"cleared since": {m: full(10, 4, "absent"), want: OK, held: version(10, 5),
			prior: func(s *fakeStore) { s.meta.Cleared = version(10, 5) }},
		"cleared since, below the floor too": {m: full(10, 4, "absent"), want: OK, held: version(10, 5),
			prior: func(s *fakeStore) { s.meta.Cleared, s.meta.Floor = version(10, 5), version(10, 9) }},
		"cleared before":              {m: full(10, 6, "absent"), want: OK, held: version(10, 6), value: "new", prior: func(s *fakeStore) { s.meta.Cleared = version(10, 5) }},
		"cleared by a higher ballot":  {m: full(10, 6, "absent"), want: StaleBallot, held: version(11, 1), prior: func(s *fakeStore) { s.meta.Cleared = version(11, 1) }},
		"delta on what a clear wrote": {m: delta(10, 6, "absent", version(9, 3)), want: NeedFull, held: version(10, 5), prior: func(s *fakeStore) { s.meta.Cleared = version(10, 5) }},
	} {
		t.Run(name, func(t *testing.T) {
			a, store := replica(t)
			if test.prior != nil {
				test.prior(store)
				b, err := NewAcceptor(0, store, datatype.Apply)
				require.NoError(t, err)
				a = &b
			}
			promised, before := store.meta.Promised, store.records[string(test.m.Key)].Version
			test.m.Epoch = 5
			reply := handle(t, a, test.m)
			require.Equal(t, test.want, reply.Result)
			require.Equal(t, test.value, string(store.records[string(test.m.Key)].State.Value))
			if test.want == OK || !test.held.IsZero() {
				require.Equal(t, test.held, reply.Held)
			}
			if test.want == BelowFloor {
				require.Equal(t, store.meta.Floor, reply.Floor)
			}
			if store.records[string(test.m.Key)].Version == before {
				require.Zero(t, store.writes, "nothing is written without acceptance")
				require.Equal(t, promised, store.meta.Promised)
			} else {
				require.False(t, store.meta.Promised.Less(test.m.Ballot), "an acceptance is a promise")
			}
		})
	}
}

func TestConfirmWritesNothing(t *testing.T) {
	for counter, want := range map[uint64]Result{9: StaleBallot, 10: OK, 11: OK} { // (R9) refused iff promised > b
		a, store := replica(t)
		reply := handle(t, a, Message{Kind: Confirm, Epoch: 5, Ballot: ballot(counter)})
		require.Equal(t, want, reply.Result)
		require.Zero(t, store.writes)
	}
}

func TestR13PurgeDropsExactlyTheTombstone(t *testing.T) {
	for name, test := range map[string]struct {
		rec     record.Record
		purge   record.Version
		dropped bool
	}{
		"the tombstone":            {record.Record{Version: version(9, 3)}, version(9, 3), true},
		"an older tombstone":       {record.Record{Version: version(9, 2)}, version(9, 3), false},
		"a newer tombstone":        {record.Record{Version: version(9, 4)}, version(9, 3), false},
		"a value of that version":  {record.Record{Version: version(9, 3), State: text("v")}, version(9, 3), false},
		"a tombstone of the floor": {record.Record{Version: version(8, 1)}, version(8, 1), true},
	} {
		t.Run(name, func(t *testing.T) {
			a, store := replica(t)
			store.records["held"] = test.rec
			require.Equal(t, OK, handle(t, a, Message{Kind: Purge, Epoch: 5, Ballot: ballot(10), Version: test.purge, Change: record.Change{Key: []byte("held")}}).Result)
			_, there := store.records["held"]
			require.Equal(t, !test.dropped, there)
			want := version(8, 8)
			if test.dropped {
				want = record.Max(want, test.purge)
			}
			require.Equal(t, want, store.meta.Floor, "the floor is a maximum")
		})
	}
	a, store := replica(t)
	handle(t, a, Message{Kind: Purge, Epoch: 5, Ballot: ballot(10), Version: version(9, 3), Change: record.Change{Key: []byte("absent")}})
	require.Zero(t, store.writes)
}

func TestClear(t *testing.T) {
	flush := func(counter, seq uint64) Message {
		return Message{Kind: Clear, Epoch: 5, Ballot: ballot(counter), Version: version(counter, seq)}
	}
	a, store := replica(t)
	store.records["newer"] = record.Record{Version: version(11, 6), State: text("stays")}

	require.Equal(t, StaleBallot, handle(t, a, flush(9, 9)).Result, "below the promise")
	require.Len(t, store.records, 2)

	reply := handle(t, a, flush(11, 5))
	require.Equal(t, OK, reply.Result)
	require.Equal(t, version(11, 5), reply.Held)
	require.Equal(t, ballot(11), store.meta.Promised, "an acceptance is a promise")
	require.Equal(t, "stays", string(store.records["newer"].State.Value))
	require.NotContains(t, store.records, "held")

	rec, present, err := a.Read([]byte("held"))
	require.NoError(t, err)
	require.False(t, present)
	require.Equal(t, record.Record{Version: version(11, 5)}, rec, "every key without record is a tombstone of the clear's version")
	found := handle(t, a, Message{Kind: SyncRead, Epoch: 5, Ballot: ballot(11), Change: record.Change{Key: []byte("never written")}})
	require.Equal(t, version(11, 5), found.Held)
	require.False(t, found.Present)

	writes := store.writes
	reply = handle(t, a, flush(11, 2))
	require.Equal(t, OK, reply.Result)
	require.Equal(t, version(11, 5), reply.Held, "a later clear contains an earlier one")
	require.Equal(t, OK, handle(t, a, flush(11, 5)).Result)
	require.Equal(t, writes, store.writes)

	t.Run("below a clear of a higher ballot", func(t *testing.T) {
		store := &fakeStore{meta: record.SlotMeta{Epoch: 5, Promised: ballot(10), Cleared: version(12, 1)}, records: map[string]record.Record{}}
		a, err := NewAcceptor(0, store, datatype.Apply)
		require.NoError(t, err)
		require.Equal(t, StaleBallot, handle(t, &a, flush(11, 5)).Result)
		require.Zero(t, store.writes)
	})
}

func TestAReplicaWhoseStoreFailsSaysNothing(t *testing.T) {
	broken := errors.New("broken")
	for _, m := range every(5, ballot(20)) {
		a, store := replica(t)
		store.failed = broken
		if m.Kind == Confirm {
			continue // reads and writes nothing
		}
		var reply Message
		require.ErrorIs(t, execute(a, &m, &reply), broken, m.Kind)
	}
	_, err := NewAcceptor(0, &fakeStore{failed: broken}, datatype.Apply)
	require.ErrorIs(t, err, broken)
}

func TestR7ADeltaThatDoesNotApplyIsAnError(t *testing.T) {
	a, store := replica(t)
	m := Message{Kind: Accept, Epoch: 5, Ballot: ballot(10), Version: version(10, 1), Change: record.Change{Key: []byte("held"), IsDelta: true, Base: version(9, 3), Delta: []byte("\xff?")}}
	require.Error(t, execute(a, &m, new(Message)))
	require.Zero(t, store.writes)
}
