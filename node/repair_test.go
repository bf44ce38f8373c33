package node

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/ring"
)

// comparing lets a node compare its replicas all the time, and note nothing of what others miss.
func comparing(o *Options) { o.RepairInterval, o.HintLimit = 500*time.Millisecond, -1 }

// converged reports whether all nodes hold the same in every slot.
func (c *testCluster) converged() bool {
	var all [][]protocol.SlotDigest
	for _, n := range c.nodes {
		all = append(all, n.slotDigests(n.view.Load(), slices.Collect(n.view.Load().slots())))
	}
	for _, digests := range all {
		if !slices.Equal(digests, all[0]) {
			return false
		}
	}
	return true
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

// TestChoresOfASlotThatWasHandedBack are done by the node that it was handed back to, though no client
// tells it.
func TestChoresOfASlotThatWasHandedBack(t *testing.T) {
	c := newFormed(t, 3, nil)
	key := c.keyOf(c.nodes["c"])
	o := op(protocol.Execute, fmt.Sprint("set ", key, " v"))
	o.Except = protocol.AllOthers
	require.Equal(t, protocol.StatusDone, c.dial(c.nodes["a"]).one(o).Status)
	c.eventually(c.converged)
	for _, n := range c.nodes {
		for _, p := range n.peers {
			p.upSince.Store(n.mono() - 3*stableAfter.Milliseconds())
		}
	}
	do := func(name string) *chores {
		n, done, slot := c.nodes[name], &chores{}, ring.SlotOf([]byte(key))
		out := n.getOutbox()
		st := n.lock(slot, out)
		n.chore(done, st, slot, opRepair, []byte(key))
		st.unlock()
		out.flush()
		c.eventually(func() bool { return done.open.Load() == 0 })
		return done
	}
	require.EqualValues(t, 1, do("a").done.Load(), "a leads the slot, and a chore is no reason to hand it back")
	require.Equal(t, protocol.StatusNotDone, c.dial(c.nodes["a"]).one(op(protocol.Execute, "get "+key)).Status, "a client is")
	require.EqualValues(t, 1, do("c").done.Load())
}

// TestWhatAllReplicasDeletedIsForgotten though the home that deleted it has not heard of all: they
// differ in nothing.
func TestWhatAllReplicasDeletedIsForgotten(t *testing.T) {
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
			st := n.lock(slot, nil)
			require.NoError(t, n.engine.Put(slot, []byte("deleted"), record.Record{Version: rec.Version}))
			st.unlock()
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
		total := &n.repairs.total
		c.eventually(func() bool { return total.Slots.Load() > 0 })
		require.Zero(t, total.Keys.Load()+total.Failed.Load())
	}
}

func TestAppendSuspects(t *testing.T) {
	entry := func(place uint64, key string, version uint64) protocol.ScanEntry {
		return protocol.ScanEntry{Place: protocol.NewPlace(3, place), Key: []byte(key), Version: record.Version{Seq: version}}
	}
	missed := func(key string, version uint64) suspect {
		return suspect{protocol.SlotKey{Slot: 3, Key: []byte(key)}, record.Version{Seq: version}}
	}
	mine := []protocol.ScanEntry{entry(1, "a", 1), entry(2, "b", 1), entry(2, "c", 1), entry(4, "e", 2), entry(5, "f", 1)}
	theirs := []protocol.ScanEntry{entry(1, "a", 1), entry(2, "c", 2), entry(2, "b", 1), entry(3, "d", 7), entry(4, "e", 1)}
	require.Equal(t, []suspect{
		missed("c", 2), missed("d", 7), missed("e", 1), missed("f", 0),
	}, appendSuspects(nil, mine, theirs))
	require.Empty(t, appendSuspects(nil, mine, mine))
	require.Len(t, appendSuspects(nil, nil, theirs), 5)
}
