package route

import (
	"slices"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/ring"
)

// watch notes what the node is asked to watch, and says so.
func (n *fakeNode) watch(c *wire.ServerConn, body []byte) {
	n.mu.Lock()
	defer n.mu.Unlock()
	d := wire.NewDecoder(body)
	answer := wire.BeginFrame(nil, protocol.FrameWatched)
	for d.More() {
		w := protocol.DecodeWatch(&d)
		if d.Err() != nil {
			panic(d.Err())
		}
		w.Key = slices.Clone(w.Key)
		if w.Kind == protocol.Unwatch {
			n.watched = slices.DeleteFunc(n.watched, func(have protocol.WatchRequest) bool { return have.ID == w.ID })
			continue
		}
		n.watched = append(n.watched, w)
		answer = wire.AppendUvarint(answer, w.ID)
	}
	if !n.silent.Load() {
		_ = c.SendFrames(wire.EndFrame(answer, 0))
	}
}

// watches returns what the node watches.
func (n *fakeNode) watches() []protocol.WatchRequest {
	n.mu.Lock()
	defer n.mu.Unlock()
	return slices.Clone(n.watched)
}

// tells tells of a version of all that the node watches.
func (n *fakeNode) tells(seq uint64) {
	n.mu.Lock()
	defer n.mu.Unlock()
	frame := wire.BeginFrame(nil, protocol.FrameChanged)
	for _, w := range n.watched {
		frame = protocol.AppendKeyChange(frame, &protocol.KeyChange{ID: w.ID, Version: record.Version{Ballot: record.Ballot{Counter: 1, Incarnation: 1}, Seq: seq}})
	}
	n.watched = slices.DeleteFunc(n.watched, func(w protocol.WatchRequest) bool { return w.Kind == protocol.WatchOnce })
	_ = n.conns[len(n.conns)-1].SendFrames(wire.EndFrame(frame, 0))
}

// counter counts what is told of a key.
type counter struct{ atomic.Int64 }

func (c *counter) add() { c.Add(1) }

func (c *counter) become(t *testing.T, n int64, why string) {
	t.Helper()
	eventually(t, func() bool { return c.Load() == n }, "%d times: %s", n, why)
}

// TestWhoWatchesAKeyIsTold: once a majority of the replicas watches it, for it may have changed before, and then of each version once.
func TestWhoWatchesAKeyIsTold(t *testing.T) {
	t.Parallel()
	f := startRing(t, 4)
	c := f.coordinator(patient)
	key := f.key(1)
	members := f.table.Members(ring.SlotOf([]byte(key)))
	var told counter
	w := c.Watch([]byte(key), protocol.WatchFilled, told.add)
	told.become(t, 1, "a majority watches it")
	for _, n := range f.nodes {
		member := slices.Contains(members, n.id)
		eventually(t, func() bool { return (len(n.watches()) == 1) == member }, "who holds the key watches it, and nobody else")
	}
	first, second := f.nodes[members[0]-1], f.nodes[members[1]-1]
	first.tells(1)
	told.become(t, 2, "of a version")
	second.tells(1)
	second.tells(2)
	told.become(t, 3, "of the next, and not again of the one before")
	w.End()
	for _, n := range f.nodes {
		eventually(t, func() bool { return len(n.watches()) == 0 }, "nobody watches it any more")
	}
}

// TestWhatNoMajorityWatchesMayHaveChanged: nodes that do not say that they watch a key do not count, and it is told again and again that it may have changed, until enough of them do.
func TestWhatNoMajorityWatchesMayHaveChanged(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	f.nodes[0].silent.Store(true)
	f.nodes[1].silent.Store(true)
	var told counter
	defer c.Watch([]byte(f.key(1)), protocol.WatchFilled, told.add).End()
	eventually(t, func() bool { return told.Load() >= 2 }, "nobody knows whether it has changed")
	f.nodes[0].silent.Store(false)
	f.nodes[0].cut() // and is asked again when it is there again
	eventually(t, func() bool {
		c.watches.mu.Lock()
		defer c.watches.mu.Unlock()
		return c.watches.all[1].sure
	}, "two of three watch it")
}

// TestAWatchOutlivesItsLinks: a node that was connected anew watches what it watched, and what was missed meanwhile is told of.
func TestAWatchOutlivesItsLinks(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	var told counter
	defer c.Watch([]byte(f.key(1)), protocol.WatchFilled, told.add).End()
	told.become(t, 1, "a majority watches it")
	eventually(t, func() bool { return len(c.held(1)) == 3 }, "all watch it")
	for _, n := range f.nodes {
		n.setDown(true)
	}
	eventually(t, func() bool { return len(c.held(1)) == 0 }, "nobody does")
	before := told.Load()
	for _, n := range f.nodes {
		n.setDown(false)
	}
	eventually(t, func() bool { return len(c.held(1)) == 3 && told.Load() > before }, "all watch it again, and it may have changed")
}

// held returns who watches a key.
func (c *Coordinator) held(id uint64) []*nodeLink {
	c.watches.mu.Lock()
	defer c.watches.mu.Unlock()
	return slices.Clone(c.watches.all[id].held)
}

// TestAWatchFollowsItsSlot: the members that a slot has now watch, and what only they were sent is told of.
func TestAWatchFollowsItsSlot(t *testing.T) {
	t.Parallel()
	f := startRing(t, 4)
	c := f.coordinator(patient)
	key := f.key(1)
	slot := ring.SlotOf([]byte(key))
	members := f.table.Members(slot)
	var told counter
	defer c.Watch([]byte(key), protocol.WatchFilled, told.add).End()
	told.become(t, 1, "a majority watches it")
	eventually(t, func() bool { return len(c.held(1)) == 3 }, "all watch it")
	stranger := uint16(1 + 2 + 3 + 4 - int(members[0]) - int(members[1]) - int(members[2]))
	require.True(t, c.learn(f.cluster, f.change(f.table, map[uint16]ring.Assignment{slot: {Replicas: []uint16{members[0], stranger, members[1]}}})))
	eventually(t, func() bool { return len(f.nodes[stranger-1].watches()) == 1 && told.Load() >= 2 }, "the new member watches, and it may have changed")
	before := told.Load()
	f.nodes[stranger-1].tells(7)
	eventually(t, func() bool { return told.Load() > before }, "of what it was sent")
}

// TestWhatIsWatchedOnceIsToldOnce: of whatever comes first, a change or a link that is lost. Then nobody watches it.
func TestWhatIsWatchedOnceIsToldOnce(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	var changed, lost counter
	c.Watch([]byte(f.key(1)), protocol.WatchOnce, changed.add)
	eventually(t, func() bool { return len(c.held(1)) == 3 }, "all watch it")
	require.Zero(t, changed.Load(), "nothing has changed since it was asked for")
	f.nodes[1].tells(1)
	changed.become(t, 1, "it changed")
	f.nodes[2].tells(2)
	c.Watch([]byte(f.key(2)), protocol.WatchOnce, lost.add)
	eventually(t, func() bool { return len(c.held(2)) == 3 }, "all watch it")
	f.nodes[0].cut()
	lost.become(t, 1, "it may have changed")
	for _, n := range f.nodes {
		eventually(t, func() bool { return len(n.watches()) == 0 }, "nobody watches it any more")
	}
	require.EqualValues(t, 1, changed.Load())
}
