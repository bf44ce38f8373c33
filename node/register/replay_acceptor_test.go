package register

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype"
)

// asking is one request to a replica, and whether there is room for what the replica wants to have persisted then: all, none, or
// the slot's state only.
type asking struct {
	Message
	room int
}

// someAsking is one that makes some sense to a replica, of one of few homes, about one of few keys.
func someAsking(rnd *rand.Rand, store *fakeStore) asking {
	b := record.Ballot{Counter: 1 + uint64(rnd.IntN(6)), Incarnation: record.NewIncarnation(7, uint16(1+rnd.IntN(2)))}
	m := Message{Kind: Kind(1 + rnd.IntN(6)), From: b.Member(), To: 3, Epoch: 1 + uint64(rnd.IntN(20)/19), Ballot: b, Round: rnd.Uint64N(9)}
	m.Key = fmt.Append(nil, "k", rnd.IntN(3))
	if rnd.IntN(3) > 0 {
		m.Kind = Accept
	}
	held := store.records[string(m.Key)]
	m.Version, m.Base = record.Version{Ballot: b, Seq: rnd.Uint64N(100)}, held.Version
	if m.Kind == Purge {
		m.Version = held.Version
	}
	switch rnd.IntN(4) {
	case 0: // a deletion
	case 1:
		m.State = text(fmt.Sprint(long, rnd.IntN(10)))
	default:
		if _, effect := datatype.Execute(nil, held.State, appendRequest("x"), 0); held.State.Live() && effect.Kind == record.Changed {
			m.IsDelta, m.Delta = true, effect.Delta
		}
	}
	return asking{m, rnd.IntN(8)}
}

// replicaAsked is a replica that is asked, and what came of it.
type replicaAsked struct {
	Acceptor
	store *fakeStore
	out   []string
}

func newReplicaAsked(t *testing.T) *replicaAsked {
	store := &fakeStore{records: map[string]record.Record{}}
	a, err := NewAcceptor(0, store, datatype.Apply)
	require.NoError(t, err)
	return &replicaAsked{Acceptor: a, store: store}
}

// step asks it once, and reports what was not persisted, if anything was not.
func (r *replicaAsked) step(t *testing.T, a asking, w *Write) (missing string) {
	before, meta, writes := maps.Clone(r.store.records), r.Meta(), r.store.writes
	var reply Message
	require.NoError(t, r.Step(&a.Message, &reply, w))
	require.Equal(t, []any{meta, writes}, []any{r.Meta(), r.store.writes}, "a step only reads")
	said := fmt.Sprintf("%+v", reply)
	if !w.Wanted() {
		r.out = append(r.out, said)
		return ""
	}
	wanted := describe(w)
	r.store.full, r.store.metaFits = a.room < 2, a.room == 1
	wants, sets := *w, w.SetsMeta && w.Kind < WriteClear
	err := r.Persisted(w, w.To(r.store))
	require.False(t, w.Wanted(), "it is dealt with")
	switch {
	case err == nil:
		r.out = append(r.out, wanted, said)
		return ""
	case r.store.metaFits && sets:
		meta = wants.Meta
	}
	require.ErrorIs(t, err, ErrNoRoom)
	require.Equal(t, meta, r.Meta(), "the replica is what its store holds")
	require.Equal(t, meta, r.store.meta)
	require.Equal(t, before, r.store.records)
	r.out = append(r.out, wanted, "no room")
	return wanted
}

// TestReplayOfAReplica: what a replica is asked, and what of its writes was persisted, decides about all that it replies and wants to have
// persisted. What was not persisted has left no trace: asked once more it says the same.
func TestReplayOfAReplica(t *testing.T) {
	refused := 0
	for seed := range uint64(20) {
		rnd := rand.New(rand.NewPCG(seed, 3))
		first, used := newReplicaAsked(t), new(Write)
		var tape []asking
		for range 400 {
			a := someAsking(rnd, first.store)
			tape = append(tape, a)
			if missing := first.step(t, a, used); missing != "" && a.room == 0 {
				refused++
				again := first.step(t, a, used)
				require.Equal(t, missing, again)
				tape = append(tape, a)
			}
		}
		second := newReplicaAsked(t)
		for _, a := range tape {
			second.step(t, a, new(Write))
		}
		require.Equal(t, first.out, second.out, "seed %d", seed)
		require.Equal(t, first.store, second.store)
		require.Equal(t, first.rival(), second.rival())
	}
	require.NotZero(t, refused)
}
