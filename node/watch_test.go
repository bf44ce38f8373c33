package node

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/ring"
)

// told returns how often the client was told that a key has changed.
func (cl *client) told(id uint64) int {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	return cl.changed[id]
}

// TestAReplicaTellsWhatItStages: every replica of a key says to whom it watches the key for that it was sent a write: of one key, of several, or of the whole slot.
func TestAReplicaTellsWhatItStages(t *testing.T) {
	c := newFormed(t, 3, nil)
	home := c.dial(c.nodes["a"])
	require.Equal(t, "+OK\r\n", string(home.do("set {k}a 0").Reply))
	slot := ring.SlotOf([]byte("{k}a"))
	for _, name := range []string{"a", "b", "c"} {
		cl := c.dial(c.nodes[name])
		for id, kind := range []protocol.WatchKind{1: protocol.WatchFilled, 2: protocol.WatchOnce} {
			if kind != protocol.Unwatch {
				require.NoError(t, cl.link.SendFrames(protocol.WatchFrame(&protocol.WatchRequest{ID: uint64(id), Kind: kind, Slot: slot, Key: []byte("{k}a")})))
			}
		}
		c.eventually(func() bool { cl.mu.Lock(); defer cl.mu.Unlock(); return len(cl.watched) == 2 })
		require.Equal(t, "+OK\r\n", string(home.do("set {k}a 1").Reply))
		c.eventually(func() bool { return cl.told(1) == 1 && cl.told(2) == 1 })
		require.Equal(t, "+OK\r\n", string(home.one(together("{k}a", command.Batch{Commands: []command.Request{requestOf("mset", "{k}a", "2", "{k}b", "2")}})).Reply))
		c.eventually(func() bool { return cl.told(1) == 2 })
		require.Equal(t, ":1\r\n", string(home.do("del {k}a").Reply))
		require.NoError(t, cl.link.SendFrames(protocol.WatchFrame(&protocol.WatchRequest{ID: 3, Kind: protocol.WatchOnce, Slot: slot, Key: []byte("{k}a")})))
		c.eventually(func() bool { cl.mu.Lock(); defer cl.mu.Unlock(); return cl.watched[3] })
		require.Equal(t, "+OK\r\n", string(home.one(protocol.Op{Kind: protocol.Execute, Slot: slot, Req: command.Request{Op: command.OpClear, Args: [][]byte{nil}}}).Reply))
		c.eventually(func() bool { return cl.told(3) >= 1 })
		require.Equal(t, 2, cl.told(1), "who waits for it does not hear that it is gone")
	}
}

// TestOnlyProxiesWatch: a node that asks for it is disconnected.
func TestOnlyProxiesWatch(t *testing.T) {
	c := newFormed(t, 3, nil)
	cl := c.dialAs(c.nodes["a"], c.nodes["b"])
	require.NoError(t, cl.link.SendFrames(wire.EndFrame(wire.BeginFrame(nil, protocol.FrameWatch), 0)))
	received(t, cl.down)
}
