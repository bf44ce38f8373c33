package route

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/protocol/answer"
)

// nearest executes a GET for a client that is READONLY.
func nearest(t *testing.T, c *Coordinator, key string) string {
	t.Helper()
	b := new(Batch).fill(get(key))
	b.Ops[0].Nearest = true
	executeInTime(t, c, b)
	return texts(b)[0]
}

// TestOneReplicaAnswersWhatWasChosen: of a version that a majority was seen to hold, and of what was never written. Of any other a majority is asked.
func TestOneReplicaAnswersWhatWasChosen(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := startCoordinator(t, Config{OperationTimeout: patient, Seeds: []string{f.nodes[0].address()}, Rack: f.cluster.Members[2].Rack})
	f.awaitUp(c, 3)
	key := f.key(1)
	f.play(func(r *request) { r.vote(0, "$-1\r\n") })
	require.Equal(t, "$-1\r\n", nearest(t, c, key))
	require.Equal(t, []string{"3:value " + key}, f.seen())

	f.forget()
	f.play(func(r *request) { r.vote(7, "$1\r\nv\r\n") })
	require.Equal(t, "$1\r\nv\r\n", nearest(t, c, key), "nobody knows yet")
	require.Len(t, f.seen(), 3, "it is asked, then a majority")
	f.forget()
	f.play(func(r *request) { r.vote(map[uint16]uint64{1: 9, 2: 9, 3: 7}[r.node.id], "$1\r\nv\r\n") })
	require.Equal(t, "$1\r\nv\r\n", nearest(t, c, key), "it is old, but was chosen")
	require.Equal(t, []string{"3:value " + key}, f.seen())
	require.EqualValues(t, 2, c.Stats().NearestReads.Load())

	// A version that nobody has seen at a majority is not shown.
	f.play(func(r *request) {
		if r.Kind == protocol.Execute {
			r.done("$1\r\nh\r\n")
			return
		}
		r.vote(map[uint16]uint64{1: 9, 2: 9, 3: 10}[r.node.id], "$1\r\nw\r\n")
	})
	require.Equal(t, "$1\r\nh\r\n", nearest(t, c, key))
	require.EqualValues(t, 2, c.Stats().NearestReads.Load())

	// Another key's version is another version, though it has the same number.
	f.play(func(r *request) { r.vote(7, "$1\r\no\r\n") })
	other := f.keys(2, 1)[1]
	f.forget()
	require.Equal(t, "$1\r\no\r\n", nearest(t, c, other))
	require.Len(t, f.seen(), 3)
}

// TestWhoCannotAnswerAloneIsNoError: a majority is asked then, or the home.
func TestWhoCannotAnswerAloneIsNoError(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := startCoordinator(t, Config{OperationTimeout: patient, Seeds: []string{f.nodes[0].address()}, Own: f.nodes[1].address()})
	f.awaitUp(c, 3)
	key := f.key(1)
	alone := true // the next answer is that of the one that is asked alone
	for name, first := range map[string]func(*request){
		"its state has expired":    (*request).askHome,
		"its store has failed":     func(r *request) { r.notDone(answer.StorageFailed, 0) },
		"it has too much to do":    func(r *request) { r.notDone(answer.Overloaded, 0) },
		"it is no replica":         func(r *request) { r.notDone(answer.NotMember, 0) },
		"it knows another version": func(r *request) { r.notDone(answer.EpochChanged, 0) },
	} {
		alone = true
		f.forget()
		f.play(func(r *request) {
			if alone {
				alone = false
				first(r)
				return
			}
			r.vote(7, "$1\r\nv\r\n")
		})
		require.Equal(t, "$1\r\nv\r\n", nearest(t, c, key), name)
		require.Equal(t, "2:value "+key, f.seen()[0], "%s: the node in this process", name)
	}
	require.Zero(t, c.Stats().NearestReads.Load())
}

// TestWhoIsCutOffAnswersNotAlone: where no majority is heard nothing old is shown.
func TestWhoIsCutOffAnswersNotAlone(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := startCoordinator(t, Config{OperationTimeout: patient, Seeds: []string{f.nodes[0].address()}, Own: f.nodes[0].address()})
	f.awaitUp(c, 3)
	view := c.ring.Load()
	slot := uint16(0)
	require.EqualValues(t, 1, c.nearest(view, slot))
	require.True(t, c.Holds(slot))
	view.node(2).up.Store(false)
	require.EqualValues(t, 1, c.nearest(view, slot))
	view.node(3).up.Store(false)
	require.Zero(t, c.nearest(view, slot))
	view.node(2).up.Store(true)
	view.node(1).up.Store(false)
	view.node(3).up.Store(true)
	require.NotZero(t, c.nearest(view, slot), "another one, while the own one does not answer")
	require.NotEqualValues(t, 1, c.nearest(view, slot))
}

// TestAWriteIsNeverForOneReplica: what changes a key, and what is read behind it in the same pipeline, is the home's.
func TestAWriteIsNeverForOneReplica(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	key := f.key(1)
	f.play(func(r *request) {
		if r.Kind == protocol.Execute {
			r.done("+OK\r\n")
			return
		}
		r.vote(0, "$-1\r\n")
	})
	b := new(Batch).fill(set(key, "v"), get(key))
	b.EndPart()
	b.Ops[1].Nearest = true
	executeInTime(t, c, b)
	require.Equal(t, []string{"+OK\r\n", "+OK\r\n"}, texts(b))
	require.Equal(t, command.OpGet, b.Ops[1].Req.Op)
	require.Zero(t, c.Stats().NearestReads.Load())
}
