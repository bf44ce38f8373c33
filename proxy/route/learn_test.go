package route

import (
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/ring"
)

// change returns the table of the next version, in which some slots have other assignments.
func (f *fakeRing) change(table *ring.Table, changes map[uint16]ring.Assignment) *ring.Table {
	f.t.Helper()
	version := table.Version() + 1
	slots := make([]ring.Assignment, ring.Slots)
	for slot := range slots {
		slots[slot] = table.Assignment(uint16(slot))
	}
	for slot, a := range changes {
		a.Epoch = version
		slots[slot] = a
	}
	next, err := ring.NewTable(version, slots)
	require.NoError(f.t, err)
	return next
}

// know lets nodes know a version of the ring, as far as the proxy has heard.
func know(c *Coordinator, version uint64, ids ...uint16) {
	for _, id := range ids {
		c.ring.Load().node(id).version.Store(version)
	}
}

func TestALaterRingIsLearnedAtOnce(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	moved, other := f.key(1), f.key(3)
	require.Equal(t, []string{"+OK\r\n", "+OK\r\n"}, texts(run(t, c, set(moved, "v"), set(other, "v"))))
	old := c.ring.Load()
	old.homes[ring.SlotOf([]byte(moved))].Store(3)
	old.homes[ring.SlotOf([]byte(other))].Store(2)
	table := f.change(f.table, map[uint16]ring.Assignment{ring.SlotOf([]byte(moved)): {Replicas: []uint16{2, 1, 3}}})
	require.True(t, c.learn(f.cluster, table))
	require.False(t, c.learn(f.cluster, table))
	require.False(t, c.learn(f.cluster, f.table), "it is older")
	view := c.ring.Load()
	require.Equal(t, old.nodes, view.nodes, "the links are the same")
	require.EqualValues(t, 3, view.homes[ring.SlotOf([]byte(moved))].Load(), "who led the slot is a member still")
	require.EqualValues(t, 2, view.homes[ring.SlotOf([]byte(other))].Load())

	know(c, 2, 1, 2, 3)
	f.forget()
	require.Equal(t, []string{"+OK\r\n"}, texts(run(t, c, set(moved, "w"))))
	require.Equal(t, []string{"3:execute " + moved}, f.seen())
	require.EqualValues(t, 2, f.log[0].epoch, "the version that both know")

	table = f.change(table, map[uint16]ring.Assignment{ring.SlotOf([]byte(moved)): {Replicas: []uint16{2, 1}}})
	require.True(t, c.learn(f.cluster, table))
	require.Zero(t, c.ring.Load().homes[ring.SlotOf([]byte(moved))].Load(), "it is none any more")
}

// TestWhoIsBehindIsNotAskedOfWhatHasChanged: a node that has not heard of a change would count its vote for the members of before.
func TestWhoIsBehindIsNotAskedOfWhatHasChanged(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	moved, other := f.key(1), f.key(2)
	require.True(t, c.learn(f.cluster, f.change(f.table, map[uint16]ring.Assignment{ring.SlotOf([]byte(moved)): {Replicas: []uint16{2, 1, 3}}})))
	know(c, 2, 3)
	require.Equal(t, []string{"+OK\r\n"}, texts(run(t, c, set(other, "v"))), "nothing has changed about this one")
	require.EqualValues(t, 1, f.log[0].epoch, "the node has not heard of a later one")
	f.forget()

	var wait sync.WaitGroup
	wait.Go(func() {
		assert.Equal(t, []string{"+OK\r\n", "$1\r\nv\r\n", "+OK\r\n"}, texts(run(t, c, set(moved, "v"), get(moved), set(moved, "w"))))
	})
	wait.Go(func() { assert.Equal(t, []string{"$1\r\nv\r\n"}, texts(run(t, c, get(other)))) })
	eventually(t, func() bool { return len(f.seen()) >= 2 }, "the other key is read")
	for _, request := range f.seen() {
		require.NotContains(t, request, moved)
	}
	know(c, 2, 2)
	wait.Wait()
	f.forget()
	require.Equal(t, []string{"$1\r\nw\r\n"}, texts(run(t, c, get(moved))), "two of three know who holds it")
	require.ElementsMatch(t, []string{"2:value " + moved, "3:version " + moved}, f.seen())
}

// TestVotesOfTwoEpochsAreNotCountedTogether: a node that answers late what it was asked before the slot changed must not complete a majority of those that
// hold it now. Nothing but the epoch says that its answer is an old one.
func TestVotesOfTwoEpochsAreNotCountedTogether(t *testing.T) {
	t.Parallel()
	f := startRing(t, 5)
	c := f.coordinator(patient)
	key := f.key(1)
	slot := ring.SlotOf([]byte(key))
	asked := make(chan *request, 9)
	f.play(func(r *request) { asked <- r })
	result := runLater(t, c, get(key))
	value, version := <-asked, <-asked
	if value.Kind != protocol.ReadValue {
		value, version = version, value
	}
	late := version.node.id

	next := []uint16{late, late, late} // so that the second try asks the same member for its version
	for i, id := 1, uint16(1); i < 3; id++ {
		if id != late && id != value.node.id {
			next[(int(slot)+2+i)%3] = id
			i++
		}
	}
	table := f.change(f.change(f.table, nil), map[uint16]ring.Assignment{slot: {Replicas: next}}) // the second change since
	require.True(t, c.learn(f.cluster, table))
	know(c, 3, 1, 2, 3, 4, 5)
	value.notDone(answer.EpochChanged, 0)
	again := <-asked
	for again.Kind == protocol.ReadVersion {
		again = <-asked // who is late has not come to it
	}
	version.vote(0, "$-1\r\n")
	if again.Kind == protocol.Execute {
		again.done("$1\r\nv\r\n")
	} else {
		again.vote(0, "$-1\r\n") // it has missed the write
	}
	require.Equal(t, []string{"$1\r\nv\r\n"}, texts(<-result))
	require.Equal(t, protocol.Execute, again.Kind)
}

func TestAJointSlotIsReadAtItsHome(t *testing.T) {
	t.Parallel()
	f := startRing(t, 5)
	c := f.coordinator(patient)
	key := f.key(1)
	slot := ring.SlotOf([]byte(key))
	old := f.table.Replicas(slot)
	var next []uint16 // none of the old
	for id := range uint16(5) {
		if !slices.Contains(old, id+1) {
			next = append(next, id+1)
		}
	}
	require.True(t, c.learn(f.cluster, f.change(f.table, map[uint16]ring.Assignment{slot: {Replicas: old, Next: next}})))
	know(c, 2, 1, 2, 3, 4, 5)
	require.Equal(t, []string{"+OK\r\n"}, texts(run(t, c, set(key, "v"))))
	f.forget()
	require.Equal(t, []string{"$1\r\nv\r\n"}, texts(run(t, c, get(key))))
	require.Equal(t, []string{"1:execute " + key}, f.seen())

	for _, id := range next {
		f.nodes[id-1].setDown(true)
	}
	f.awaitUp(c, 3)
	require.Equal(t, []string{refused(ErrNoMajority)}, texts(run(t, c, get(key))), "a majority of the next members is needed too")
}

func TestMembersComeAndGo(t *testing.T) {
	t.Parallel()
	f := startRing(t, 4)
	c := f.coordinator(patient)
	key := f.key(1)
	old := c.ring.Load()
	gone := f.cluster
	gone.Epoch, gone.Members = 2, gone.Members[1:]
	moves := map[uint16]ring.Assignment{}
	for slot := range uint16(ring.Slots) {
		if f.table.Contains(slot, 1) {
			moves[slot] = ring.Assignment{Replicas: []uint16{2, 3, 4}}
		}
	}
	first := f.change(f.table, moves)
	require.True(t, c.learn(gone, first))
	view := c.ring.Load()
	require.Equal(t, old.nodes[1:], view.nodes)
	eventually(t, func() bool { return old.nodes[0].down.Load() }, "the link to who is gone is closed")
	know(c, 2, 2, 3, 4)
	require.Equal(t, []string{"+OK\r\n", "$1\r\nv\r\n"}, texts(run(t, c, set(key, "v"), get(key))))

	back := f.cluster
	back.Epoch, back.Members = 3, slices.Clone(back.Members)
	back.Members[0].Generation = 7 // another life
	require.True(t, c.learn(back, f.change(first, map[uint16]ring.Assignment{ring.SlotOf([]byte(key)): {Replicas: []uint16{1, 2, 3}}})))
	require.NotSame(t, old.nodes[0], c.ring.Load().nodes[0])
}

// TestABatchKeepsAsMuchAsThereAreNodes: the IDs of members grow as long as the cluster lives; what a batch keeps for each node, and looks at each time, must not.
func TestABatchKeepsAsMuchAsThereAreNodes(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	b := new(Batch)
	cluster, table := f.cluster, f.table
	for life := range uint64(5) { // of the third node
		cluster.Epoch, cluster.Members = life+2, slices.Clone(cluster.Members)
		cluster.Members[2].ID, cluster.Members[2].Generation = uint16(1000*(life+1)), life+2
		slots := map[uint16]ring.Assignment{}
		for slot := range uint16(ring.Slots) {
			slots[slot] = ring.Assignment{Replicas: []uint16{cluster.Members[2].ID, 1, 2}}
		}
		table = f.change(table, slots)
		f.nodes[2].props.Store(&protocol.Properties{Voting: true, Member: &cluster.Members[2], Ring: protocol.RingNews{Formation: f.document.Formation, Version: life + 2}})
		require.True(t, c.learn(cluster, table))
		know(c, life+2, 1, 2)
		eventually(t, func() bool { return c.ring.Load().nodes[2].up.Load() }, "the new life is connected")
		c.Execute(b.fill(set("k", "v"), get("k"), get("other")))
		require.Equal(t, []string{"+OK\r\n", "$1\r\nv\r\n", "$-1\r\n"}, texts(b))
		require.LessOrEqual(t, len(b.state.frames), 3)
	}
}

// TestWhoLeftAnswersWhatItHas: its link is closed after that, and what it was asked for has an outcome.
func TestWhoLeftAnswersWhatItHas(t *testing.T) {
	t.Parallel()
	f := startRing(t, 4)
	c := f.coordinator(patient)
	key := f.key(1)
	old := c.ring.Load().nodes[0]
	asked := make(chan *request, 9)
	f.play(func(r *request) { asked <- r })
	result := runLater(t, c, set(key, "v"))
	r := <-asked
	require.EqualValues(t, 1, r.node.id)
	gone := f.cluster
	gone.Epoch, gone.Members = 2, gone.Members[1:]
	moves := map[uint16]ring.Assignment{}
	for slot := range uint16(ring.Slots) {
		if f.table.Contains(slot, 1) {
			moves[slot] = ring.Assignment{Replicas: []uint16{2, 3, 4}}
		}
	}
	require.True(t, c.learn(gone, f.change(f.table, moves)))
	time.Sleep(3 * formerPause)
	require.False(t, old.down.Load())
	r.done("+OK\r\n")
	require.Equal(t, []string{"+OK\r\n"}, texts(<-result))
	eventually(t, func() bool { return old.down.Load() }, "its link is closed")
}

// TestANodeThatKnowsMoreIsAskedAgain until this proxy has heard, too. That it refused does not make others take the slot from who leads it.
func TestANodeThatKnowsMoreIsAskedAgain(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	key := f.key(1)
	refused := make(chan *request, 999)
	f.play(func(r *request) {
		if r.epoch < 2 {
			r.notDone(answer.EpochChanged, 0)
		} else {
			r.done("+OK\r\n")
		}
		refused <- r
	})
	result := runLater(t, c, set(key, "v"))
	for range 3 * patience {
		r := <-refused
		require.EqualValues(t, 1, r.node.id)
		require.Zero(t, r.Except)
	}
	r := f.table.Replicas(ring.SlotOf([]byte(key)))
	require.True(t, c.learn(f.cluster, f.change(f.table, map[uint16]ring.Assignment{ring.SlotOf([]byte(key)): {Replicas: []uint16{r[0], r[2], r[1]}}})))
	know(c, 2, 1, 2, 3)
	require.Equal(t, []string{"+OK\r\n"}, texts(<-result))
}

// TestAGuessHidesNothing: that a node has refused an epoch says less than that it knows a later version.
func TestAGuessHidesNothing(t *testing.T) {
	h, l := newHeard(), new(nodeLink)
	for _, version := range []uint64{5, 7, 6} {
		h.note(l, protocol.RingNews{Formation: 1, Version: version})
	}
	require.EqualValues(t, 7, h.from[l].news.Version)
}
