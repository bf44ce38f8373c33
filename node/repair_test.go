package node

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/memory"
	"github.com/quolldb/quoll/node/repair"
	"github.com/quolldb/quoll/node/replica"
	"github.com/quolldb/quoll/ring"
)

// comparing lets a node compare its replicas all the time, and note nothing of what others miss.
func comparing(o *Options) { o.RepairInterval, o.HintLimit = 500*time.Millisecond, -1 }

// converged reports whether all nodes hold the same in every slot.
func (c *testCluster) converged() bool {
	var all [][]byte
	var slots []uint16
	for slot := range uint16(ring.Slots) {
		slots = append(slots, slot)
	}
	for _, n := range c.nodes {
		digests, err := n.repairs.AnswerDigests(protocol.AppendSlots(nil, n.replicas.View().Table.Version(), slots))
		require.NoError(c.t, err)
		all = append(all, digests)
	}
	for _, digests := range all {
		if !bytes.Equal(digests, all[0]) {
			return false
		}
	}
	return true
}

// comparedWith counts the peers with which a node has compared everything.
func (n *Node) comparedWith() (peers int) {
	for _, p := range n.Self().Repair {
		if p.LastPass != nil {
			peers++
		}
	}
	return peers
}

// all executes commands at a node, which takes the terms, and repeats what had no effect.
func (c *testCluster) all(name string, commands ...string) {
	c.t.Helper()
	cl := c.dial(c.nodes[name])
	for len(commands) > 0 {
		var ops []protocol.Op
		for _, words := range commands {
			o := op(protocol.Execute, words)
			o.Except = protocol.AllOthers
			ops = append(ops, o)
		}
		var again []string
		for i, result := range cl.send(ops...) {
			if r := cl.wait(result); r.Status != protocol.StatusDone {
				again = append(again, commands[i])
			}
		}
		commands = again
	}
}

// TestAReplicaThatMissedWritesCatchesUp without anybody reading, whether it leads the slots or
// not.
func TestAReplicaThatMissedWritesCatchesUp(t *testing.T) {
	t.Parallel()
	d := newDisks("a", "b", "c")
	change := func(o *Options) { d.use(o); comparing(o) }
	c := newFormed(t, 3, change)
	const keys = 300
	var before, after []string
	for i := range keys {
		key := fmt.Sprint("key-", i)
		before = append(before, "set "+key+" old")
		switch i % 3 {
		case 0:
			after = append(after, "del "+key)
		case 1:
			after = append(after, "set "+key+" new")
		}
		after = append(after, fmt.Sprint("set other-", i, " new"))
	}
	c.all("c", before...)
	c.eventually(c.converged)
	c.stop("c")
	c.all("a", after...)
	c.start("c", change)
	c.eventually(c.converged)
	for _, name := range []string{"a", "b", "c"} {
		require.EqualValues(t, keys*2-keys/3, c.live(name))
		for i := range keys {
			key, other := fmt.Sprint("key-", i), fmt.Sprint("other-", i)
			require.Equal(t, []string{"", "new", "old"}[i%3], string(c.held(name, ring.SlotOf([]byte(key)), key)))
			require.Equal(t, "new", string(c.held(name, ring.SlotOf([]byte(other)), other)))
		}
	}
	c.eventually(func() bool { // what was deleted is purged, now that all hold that
		for _, n := range c.nodes {
			if totals, err := n.engine.Totals(); err != nil || totals.Tombstones > 0 {
				return false
			}
		}
		return true
	})
}

// TestWhatASlotNeedsThatWasHandedBack is done by the node that it was handed back to, though no client
// tells it.
func TestWhatASlotNeedsThatWasHandedBack(t *testing.T) {
	t.Parallel()
	c := newFormed(t, 3, func(o *Options) { o.stableAfter = time.Millisecond })
	key := c.keyOf(c.nodes["c"])
	o := op(protocol.Execute, fmt.Sprint("set ", key, " v"))
	o.Except = protocol.AllOthers
	require.Equal(t, protocol.StatusDone, c.dial(c.nodes["a"]).one(o).Status)
	c.eventually(c.converged)
	do := func(name string) bool {
		n, slot, answers := c.nodes[name], ring.SlotOf([]byte(key)), make(chan bool, 1)
		round := n.replicas.Begin()
		st := n.replicas.Lock(slot, round)
		st.Background(slot, replica.OpRepair, []byte(key), func(done bool) { answers <- done })
		st.Unlock()
		round.Flush()
		return received(t, answers)
	}
	require.True(t, do("a"), "a leads the slot, and what it does in the background is no reason to hand it back")
	require.Equal(t, protocol.StatusNotDone, c.dial(c.nodes["a"]).one(op(protocol.Execute, "get "+key)).Status, "a client is")
	c.eventually(func() bool { return do("c") })
}

// TestWhatAllReplicasDeletedIsForgotten though the home that deleted it has not heard of all: they
// differ in nothing.
func TestWhatAllReplicasDeletedIsForgotten(t *testing.T) {
	t.Parallel()
	c := newFormed(t, 3, comparing)
	const keys = 100
	for i := range keys {
		c.set("a", fmt.Sprint("key-", i), "v")
	}
	c.eventually(c.converged)
	for i := range keys {
		key := []byte(fmt.Sprint("key-", i))
		slot := ring.SlotOf(key)
		rec, _, err := c.nodes["a"].engine.Get(slot, key)
		require.NoError(t, err)
		for _, n := range c.nodes {
			st := n.replicas.Lock(slot, nil)
			require.NoError(t, n.engine.Put(slot, []byte("deleted"), record.Record{Version: rec.Version}))
			st.Unlock()
		}
	}
	c.eventually(func() bool {
		for _, n := range c.nodes {
			if totals, err := n.engine.Totals(); err != nil || totals.Tombstones > 0 || totals.Live != keys {
				return false
			}
		}
		return c.converged()
	})
}

// TestNothingIsRepairedWhileNothingIsMissing, though clients write all the time.
func TestNothingIsRepairedWhileNothingIsMissing(t *testing.T) {
	t.Parallel()
	// On a busy machine a write may well take longer than a tenth of half a second.
	c := newFormed(t, 3, func(o *Options) { comparing(o); o.RepairInterval = 5 * time.Second })
	cl := c.dial(c.nodes["a"])
	for i := range 5000 {
		o := op(protocol.Execute, fmt.Sprint("set key-", i%100, " v"))
		o.Except = protocol.AllOthers
		require.Equal(t, protocol.StatusDone, cl.one(o).Status)
	}
	c.eventually(c.converged)
	for _, n := range c.nodes {
		c.eventually(func() bool { return n.comparedWith() == len(n.peers.All()) })
		s := n.Self()
		require.Zero(t, s.RepairedKeys+s.RepairFailed)
	}
}

// TestOneKeyOfAVeryLargeSlot is found without listing more than the keys of its leaf.
func TestOneKeyOfAVeryLargeSlot(t *testing.T) {
	keys := 200_000
	if testing.Short() {
		keys = 20_000
	}
	c := newFormed(t, 3, nil)
	slot, key := ring.SlotOf([]byte(c.keyOf(c.nodes["a"]))), func(i int) []byte { return fmt.Append(nil, "large-", i) }
	lost, listed := key(77), uint64(0)
	leaf := engine.LeafOf(engine.PositionOf(lost))
	for i := range keys {
		if engine.LeafOf(engine.PositionOf(key(i))) == leaf {
			listed++
		}
	}
	for name, n := range c.nodes {
		st := n.replicas.Lock(slot, nil)
		for i := range keys {
			rec := record.Record{Version: record.Version{Seq: uint64(i) + 1}, State: record.State{Type: record.String, Value: []byte("v")}}
			require.NoError(t, n.engine.Put(slot, key(i), rec))
		}
		if name == "c" {
			require.NoError(t, n.engine.Delete(slot, lost))
		}
		st.Unlock()
	}
	compare := func(dry bool) *repair.Progress {
		progress := &repair.Progress{}
		require.NoError(t, c.nodes["a"].repairs.Repair(t.Context(), repair.Request{First: slot, Last: slot, DryRun: dry}, progress))
		return progress
	}
	progress := compare(true)
	require.EqualValues(t, 1, progress.Keys.Load())
	require.EqualValues(t, 1, progress.Differing.Load())
	require.Equal(t, listed+listed-1, c.nodes["a"].State().RepairListed)
	require.Nil(t, c.held("c", slot, string(lost)))
	c.eventually(func() bool { return compare(false).Keys.Load() == 0 && c.converged() })
	require.Equal(t, "v", string(c.held("c", slot, string(lost))))
}

// TestRecountingFindsWhatCannotBeRead though nobody asks for it.
func TestRecountingFindsWhatCannotBeRead(t *testing.T) {
	rotten := &broken{Engine: memory.New()}
	c := newFormed(t, 1, func(o *Options) { o.Engine = rotten })
	c.set("a", "k", "v")
	rotten.fail(errFlipped, nil)
	n := c.nodes["a"]
	n.repairs.Recount(t.Context(), ring.SlotOf([]byte("k")))
	slots, first := n.rebuilds.Damaged()
	require.Len(t, slots, 1)
	require.ErrorIs(t, first, engine.ErrCorrupt)
}
