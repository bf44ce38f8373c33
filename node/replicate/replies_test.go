package replicate

import (
	"testing"
	"testing/synctest"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/node/replica"
	"github.com/quolldb/quoll/ring"
)

// repair lets the homes of slots write a key again, and returns what has become of each when nothing goes on any more.
func (n *node) repair(slots ...uint16) (done []bool) {
	round := n.host.Begin()
	for _, slot := range slots {
		st := n.host.Lock(slot, round)
		st.Background(slot, replica.OpRepair, []byte("k"), func(is bool) { done = append(done, is) })
		st.Unlock()
	}
	round.Flush()
	synctest.Wait()
	return done
}

// TestAHomeCountsWhatAnotherNodeAnswers: with one of two others it has a majority, for more slots than a group has.
func TestAHomeCountsWhatAnotherNodeAnswers(t *testing.T) {
	bubble(t, func(t *testing.T) {
		a, b := running(t, "a"), running(t, "b")
		p := a.connect(t, "b", b.Dial)
		p.Start(t.Context())
		defer p.Close()
		synctest.Wait()
		var slots []uint16
		for i := range uint16(2*replica.GroupSize + 3) {
			slots = append(slots, i*11)
			_ = b.engine.Put(i*11, []byte("k"), record.Record{Version: record.Version{Seq: 1}, State: record.State{Type: record.String, Value: []byte("v")}})
		}
		done := a.repair(slots...)
		require.Len(t, done, len(slots))
		require.NotContains(t, done, false)
		for _, slot := range slots {
			rec, found, err := a.engine.Get(slot, []byte("k"))
			require.NoError(t, err)
			require.True(t, found, "it is written on what a majority held")
			require.Equal(t, "v", string(rec.State.Value))
		}
	})
}

// asked returns a node whose home of slot 3 has asked b for a term, and what handles b's answers; and the answer that gives it the term.
func asked(t *testing.T) (n *node, r *Replies, promise *register.Message) {
	n = running(t, "a")
	b := running(t, "b")
	p := n.connect(t, "b", b.Dial)
	p.Start(t.Context())
	t.Cleanup(p.Close)
	b.engine.hold.Store(true) // it says nothing
	synctest.Wait()
	st := n.host.Lock(3, n.host.Begin())
	st.Background(3, replica.OpRepair, []byte("k"), func(bool) {})
	st.End()
	synctest.Wait()
	require.False(t, n.leads())
	own, err := n.engine.Slot(3)
	require.NoError(t, err)
	promise = &register.Message{Kind: register.Prepare, Reply: true, Slot: 3, Epoch: cluster.Epoch, Ballot: own.Promised, Result: register.OK, Promised: own.Promised}
	return n, n.Replies(member(t, "b").ID, "b"), promise
}

// leads reports whether a node has the term of slot 3.
func (n *node) leads() bool {
	st := n.host.Lock(3, nil)
	defer st.Unlock()
	return st.Leads(3)
}

// TestAnAnswerIsItsSenders: whose link it came on, and nobody else's.
func TestAnAnswerIsItsSenders(t *testing.T) {
	for name, leads := range map[string]bool{"a": false, "b": true} {
		t.Run("from "+name, func(t *testing.T) {
			bubble(t, func(t *testing.T) {
				n, _, promise := asked(t)
				r := n.Replies(member(t, name).ID, name)
				r.Frame(protocol.AppendReply(nil, promise))
				r.Flush()
				require.Equal(t, leads, n.leads())
			})
		})
	}
}

// TestAnswersThatMakeNoSenseTakeNothingAlong: what came before them counts, and what is about no slot does no harm.
func TestAnswersThatMakeNoSenseTakeNothingAlong(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n, r, promise := asked(t)
		none := *promise
		none.Slot = ring.Slots
		body := protocol.AppendReply(protocol.AppendReply(nil, &none), promise)
		r.Frame(append(body, 0xff))
		r.Flush()
		require.True(t, n.leads())
		r.Flush() // of no round
		require.Zero(t, n.host.Rounds(), "a round does not end")
	})
}

// TestAnAnswerWithoutItsObjectIsNone: an answer that shows a value which did not come is no vote.
func TestAnAnswerWithoutItsObjectIsNone(t *testing.T) {
	bubble(t, func(t *testing.T) {
		n := running(t, "a")
		r := n.Replies(member(t, "b").ID, "b")
		shown := &register.Message{Kind: register.SyncRead, Reply: true, Slot: 3, Change: record.Change{Key: []byte("k")}, Present: true,
			Held: record.Version{Seq: 9}, Found: record.State{Type: record.String}}
		r.Frame(protocol.AppendReplyAhead(nil, shown, 7))
		r.Flush()
		require.EqualValues(t, 1, n.metrics.ObjectsLost.Value())
		require.NoError(t, r.Piece(piece(7, 100, 0, make([]byte, 100))))
		r.Frame(protocol.AppendReplyAhead(nil, shown, 7))
		r.Flush()
		require.EqualValues(t, 1, n.metrics.ObjectsLost.Value(), "it came")
		require.Zero(t, n.Incoming().Used())
	})
}
