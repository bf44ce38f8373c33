package node

import (
	"fmt"
	"math/rand/v2"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/engine/enginetest"
	"github.com/quolldb/quoll/node/engine/memory"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/node/replica"
	"github.com/quolldb/quoll/ring"
)

func TestAFrameOfManyOperations(t *testing.T) {
	c := newFormed(t, 3, nil)
	cl := c.dial(c.nodes["a"])
	var sets, gets []protocol.Op
	for i := range 5*replica.GroupSize + 3 { // several groups, with stripes and slots in common
		o := op(protocol.Execute, fmt.Sprintf("set {%d}%d v%d", i%20, i, i))
		o.Except = protocol.AllOthers
		sets = append(sets, o)
		gets = append(gets, op(protocol.ReadValue, fmt.Sprintf("get {%d}%d", i%20, i)))
	}
	for _, result := range cl.send(sets...) {
		require.Equal(t, "+OK\r\n", string(cl.wait(result).Reply))
	}
	for i, result := range cl.send(gets...) {
		r := cl.wait(result)
		require.Equal(t, protocol.StatusValue, r.Status)
		require.Equal(t, fmt.Sprintf("$%d\r\nv%d\r\n", len(fmt.Sprint(i))+1, i), string(r.Reply))
		require.False(t, r.Version.IsZero())
	}
	c.eventually(func() bool { return c.nodes["a"].replicas.InFlight() == 0 && c.nodes["a"].replicas.Pending() == 0 })
	versions := c.dial(c.nodes["b"]).send(op(protocol.ReadVersion, "get {1}1"))
	require.Equal(t, protocol.StatusVersion, cl.wait(versions[0]).Status)
}

func TestCommandsOnOneKeyKeepTheirOrder(t *testing.T) {
	c := newFormed(t, 3, nil)
	cl := c.dial(c.nodes["a"])
	var ops []protocol.Op
	for range 3 * replica.GroupSize {
		o := op(protocol.Execute, "append k x")
		o.Except = protocol.AllOthers
		ops = append(ops, o)
	}
	for i, result := range cl.send(ops...) {
		require.Equal(t, fmt.Sprintf(":%d\r\n", i+1), string(cl.wait(result).Reply))
	}
}

func TestRefusals(t *testing.T) {
	c := newFormed(t, 4, nil) // of which three hold a slot
	n := c.nodes["a"]
	cl := c.dial(n)
	foreign := op(protocol.Execute, "get k")
	for n.replicas.View().Table.Contains(foreign.Slot, n.self().ID) {
		foreign.Slot++
	}
	refused := func(o protocol.Op, want register.Reason) {
		t.Helper()
		r := cl.one(o)
		require.Equal(t, []any{protocol.StatusNotDone, want}, []any{r.Status, r.Reason})
	}
	refused(foreign, register.NotMember)
	foreign.Kind = protocol.ReadValue
	refused(foreign, register.NotMember)
	foreign.Slot = ring.Slots
	refused(foreign, register.NotMember)
	foreign.Kind, foreign.Slot = protocol.Execute, 65535
	refused(foreign, register.NotMember)
	cl.epoch = 2
	refused(op(protocol.ReadValue, "get k"), register.EpochChanged)
	cl.epoch = 1

	key := c.keyOf(n)
	require.Equal(t, "+OK\r\n", string(cl.one(op(protocol.Execute, "set "+key+" v")).Reply))
	for name, other := range c.nodes {
		if name != "a" && other.replicas.View().Table.Contains(ring.SlotOf([]byte(key)), other.self().ID) {
			c.eventually(func() bool { return c.held(name, ring.SlotOf([]byte(key)), key) != nil }) // it knows who leads
			r := c.dial(other).one(op(protocol.Execute, "get "+key))
			require.Equal(t, []any{register.OtherHome, n.self().ID}, []any{r.Reason, r.Hint})
		}
	}
}

func TestExpiredStatesGoToTheHome(t *testing.T) {
	now := make(chan int64, 1)
	now <- 1000
	clock := func() int64 { v := <-now; now <- v; return v }
	c := newFormed(t, 1, func(o *Options) { o.Now, o.Engine = clock, keeping{memory.New()} })
	cl := c.dial(c.nodes["a"])
	require.Equal(t, "+OK\r\n", string(cl.do("psetex k 10 v").Reply))
	require.Equal(t, protocol.StatusValue, cl.one(op(protocol.ReadValue, "get k")).Status)
	<-now
	now <- 1010
	require.Equal(t, protocol.StatusAskHome, cl.one(op(protocol.ReadValue, "get k")).Status)
	require.Equal(t, "$-1\r\n", string(cl.do("get k").Reply))
	r := cl.one(op(protocol.ReadValue, "get k"))
	require.Equal(t, []any{protocol.StatusValue, "$-1\r\n"}, []any{r.Status, string(r.Reply)})
}

func TestWorkIsBounded(t *testing.T) {
	slow := enginetest.Slow(memory.New())
	c := newFormed(t, 1, func(o *Options) { o.Engine, o.MaxPending = slow, 10 })
	n := c.nodes["a"]
	cl := c.dial(n)
	ok := cl.send(op(protocol.Execute, "set k 0123456789"))[0]
	awaitHeld(t, slow)
	require.Positive(t, n.replicas.Pending())
	busy := cl.send(op(protocol.Execute, "set k v"))[0]
	c.eventually(func() bool { return n.Metrics.RefusedBusy.Value() > 0 })
	c.eventually(func() bool { slow.Release(); return len(ok) == 1 && len(busy) == 1 })
	require.Equal(t, "+OK\r\n", string(received(t, ok).Reply))
	require.EqualValues(t, register.Overloaded, received(t, busy).Reason)
	require.Zero(t, n.replicas.Pending())
	require.Zero(t, n.replicas.InFlight())
}

// TestBadFramesCostTheirConnectionOnly: the node lives, others notice nothing.
func TestBadFramesCostTheirConnectionOnly(t *testing.T) {
	c := newFormed(t, 1, nil)
	n := c.nodes["a"]
	good := c.dial(n)
	for name, frame := range map[string][]byte{
		"unknown type":     wire.EndFrame(wire.BeginFrame(nil, 99), 0),
		"half a batch":     wire.EndFrame(append(wire.BeginFrame(nil, protocol.FrameBatch), 1, 2, 200), 0),
		"batch, old epoch": wire.EndFrame(append(wire.BeginFrame(nil, protocol.FrameBatch), 9, 2, 200), 0),
		"half a call":      wire.EndFrame(append(wire.BeginFrame(nil, protocol.FrameCall), 200), 0),
	} {
		bad := c.dial(n)
		require.NoError(t, bad.link.SendFrames(frame), name)
		select {
		case <-bad.down:
		case <-time.After(patience):
			t.Fatal("not disconnected: " + name)
		}
	}
	peer := c.dialAs(n, n)
	require.NoError(t, peer.link.SendFrames(wire.EndFrame(append(wire.BeginFrame(nil, protocol.FrameReplicate), 77, 1), 0)))
	received(t, peer.down)

	claim := n.members.Hello() // a proxy does not replicate, whatever it says of itself
	claim.Role = wire.RoleProxy
	proxy := c.connect(n, claim, nil)
	received(t, proxy.up)
	proxy.replicate(register.Message{Kind: register.Prepare, Slot: 1, Epoch: 1})
	proxy.barrier()
	require.Empty(t, proxy.replies)
	_, err := proxy.caller.Call(t.Context(), 99, nil)
	require.ErrorContains(t, err, "unknown call 99")
	_, err = proxy.caller.Call(t.Context(), protocol.MethodScan, []byte("?"))
	require.ErrorIs(t, err, protocol.ErrCall)
	require.Equal(t, "+OK\r\n", string(good.do("set k v").Reply))
}

// TestRepliesOfTwoTypesAreTwoFrames, also when one read of the connection brought both
// kinds of requests.
func TestRepliesOfTwoTypesAreTwoFrames(t *testing.T) {
	c := newFormed(t, 1, nil)
	n := c.nodes["a"]
	cl := c.dialAs(n, n)
	frames := protocol.AppendRequest(wire.BeginFrame(nil, protocol.FrameReplicate), &register.Message{Kind: register.Confirm, Slot: 1, Epoch: 1})
	frames = wire.EndFrame(frames, 0)
	start := len(frames)
	read := op(protocol.ReadVersion, "get k")
	read.ID = 7
	result := make(chan protocol.Result, 1)
	cl.results[read.ID] = result
	frames = protocol.AppendOp(protocol.AppendVersion(wire.BeginFrame(frames, protocol.FrameBatch), 1), &read)
	require.NoError(t, cl.link.SendFrames(wire.EndFrame(frames, start)))
	require.Equal(t, protocol.StatusVersion, cl.wait(result).Status)
	require.Equal(t, register.Confirm, received(t, cl.replies).Kind)
}

// TestWhatCameBeforeABrokenFrameIsDone: a connection that ends in the middle of what it has sent leaves nothing undone
// of what came before.
func TestWhatCameBeforeABrokenFrameIsDone(t *testing.T) {
	c := newFormed(t, 1, nil)
	n, cl := c.nodes["a"], c.dial(c.nodes["a"])
	write := op(protocol.Execute, "set k v")
	frames := protocol.AppendOp(protocol.AppendVersion(wire.BeginFrame(nil, protocol.FrameBatch), cl.epoch), &write)
	start := len(wire.EndFrame(frames, 0))
	frames = wire.EndFrame(append(wire.BeginFrame(frames, protocol.FrameBatch), "nonsense"...), start)
	frames[len(frames)-1]++ // its checksum is wrong
	require.NoError(t, cl.link.SendFrames(frames))
	c.eventually(func() bool {
		return n.Metrics.Writes.Value() == 1 && n.replicas.InFlight() == 0 && n.replicas.Rounds() == 0
	})
	require.Equal(t, "$1\r\nv\r\n", string(c.dial(n).do("get k").Reply))
}

// TestALargeFrameLeavesNothingBehind: a connection that once carried operations with very
// many arguments does not keep room for them.
func TestALargeFrameLeavesNothingBehind(t *testing.T) {
	c := newFormed(t, 1, nil)
	cl := c.dial(c.nodes["a"])
	before := heapInUse()
	var ops []protocol.Op
	for range replica.GroupSize {
		o := op(protocol.ReadValue, "get k")
		o.Req.Args = append(o.Req.Args, make([][]byte, 100_000)...)
		ops = append(ops, o)
	}
	results := cl.send(ops...)
	for _, result := range results {
		cl.wait(result)
	}
	cl.barrier()
	clear(ops)
	require.Less(t, heapInUse(), before+20<<20)
}

func heapInUse() int64 {
	runtime.GC()
	var stats runtime.MemStats
	runtime.ReadMemStats(&stats)
	return int64(stats.HeapAlloc)
}

// TestEveryOperationIsAnswered, whatever its number and its arguments are: a proxy of
// a newer version, or something that is none, sends what this node does not know.
func TestEveryOperationIsAnswered(t *testing.T) {
	c := newFormed(t, 1, nil)
	cl := c.dial(c.nodes["a"])
	args := [][]byte{nil, []byte("k"), []byte("1"), []byte("v"), []byte("\xff"), nil}
	for _, kind := range []protocol.OpKind{protocol.Execute, protocol.ReadValue} {
		var results []chan protocol.Result
		for code := range command.Op(300) {
			for n := range len(args) {
				results = append(results, cl.send(protocol.Op{Kind: kind, Slot: uint16(rand.IntN(ring.Slots)), Except: protocol.AllOthers,
					Req: command.Request{Op: code, Args: args[:n+1]}})...)
			}
		}
		for _, result := range results {
			cl.wait(result)
		}
	}
	require.Empty(t, cl.down)
	require.NoError(t, c.nodes["a"].Ready(t.Context()))
}

func TestAnOutboxClosesFramesBeforeTheyGrowTooLong(t *testing.T) {
	c := newFormed(t, 1, nil)
	cl := c.dial(c.nodes["a"])
	value := make([]byte, 1<<19)
	for i := range value {
		value[i] = 'x'
	}
	require.Equal(t, "+OK\r\n", string(cl.do("set k "+string(value)).Reply))
	frames := c.nodes["a"].Metrics.FramesIn.Value()
	var reads []protocol.Op
	for range 20 { // ten megabytes of replies
		reads = append(reads, op(protocol.ReadValue, "get k"))
	}
	for _, result := range cl.send(reads...) {
		require.Greater(t, len(cl.wait(result).Reply), len(value))
	}
	require.Equal(t, frames+1, c.nodes["a"].Metrics.FramesIn.Value())
	c.eventually(func() bool { return c.nodes["a"].Metrics.BytesOut.Value() > uint64(20*len(value)) }) // replies count, too
}

// TestRepliesAreBounded: who asks for too much at once gets a part of it, and the connection
// stays.
func TestRepliesAreBounded(t *testing.T) {
	c := newFormed(t, 1, nil)
	n := c.nodes["a"]
	cl := c.dial(n)
	require.Equal(t, protocol.StatusDone, cl.do("set k "+strings.Repeat("v", 1<<20)).Status)
	var reads []protocol.Op
	for range 100 {
		reads = append(reads, op(protocol.ReadValue, "get k"))
	}
	read, refused := 0, 0
	for _, answer := range cl.send(reads...) {
		switch r := cl.wait(answer); r.Status {
		case protocol.StatusValue:
			read++
		case protocol.StatusNotDone:
			require.EqualValues(t, register.Overloaded, r.Reason)
			refused++
		}
	}
	require.Equal(t, 100, read+refused)
	require.InDelta(t, replica.MaxReplies>>20, read, replica.GroupSize)
	require.Equal(t, protocol.StatusValue, cl.one(op(protocol.ReadValue, "get k")).Status, "once they are gone there is room again")
	require.Empty(t, cl.down)
}
