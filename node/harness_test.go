package node

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/engine/memory"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/ring"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// patience is how long a test waits for what must happen.
const patience = 30 * time.Second

// testCluster is nodes of one process that talk over loopback.
type testCluster struct {
	t         testing.TB
	initial   ring.Initial
	listeners map[string]net.Listener // of nodes that have not been started yet
	nodes     map[string]*Node        // that run
	logs      *logBuffer
}

// newTestCluster prepares nodes a, b, c and so on, and starts none.
func newTestCluster(t testing.TB, size int) *testCluster {
	c := &testCluster{t: t, listeners: map[string]net.Listener{}, nodes: map[string]*Node{}, logs: &logBuffer{}}
	for i := range size {
		name := string(rune('a' + i))
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		require.NoError(t, err)
		c.listeners[name] = listener
		c.initial = append(c.initial, ring.InitialMember{Name: name, Peer: listener.Addr().String()})
	}
	t.Cleanup(func() {
		for name := range c.nodes {
			c.stop(name)
		}
		for _, listener := range c.listeners {
			require.NoError(t, listener.Close())
		}
	})
	return c
}

// start starts a node with an empty store, unless change says otherwise.
func (c *testCluster) start(name string, change func(*Options)) *Node {
	c.t.Helper()
	n, err := Start(c.options(name, change))
	require.NoError(c.t, err)
	c.nodes[name] = n
	return n
}

func (c *testCluster) options(name string, change func(*Options)) Options {
	listener := c.listeners[name]
	delete(c.listeners, name)
	if listener == nil {
		self, _ := c.initial.Cluster("test", 1).ByName(name)
		var err error
		listener, err = net.Listen("tcp", self.Peer)
		require.NoError(c.t, err)
	}
	opt := Options{Name: name, ClusterName: "test", Initial: c.initial, Replicas: min(3, len(c.initial)), Weight: 1,
		Listener: listener, Engine: memory.New(), RepairInterval: -1, Version: "test", Logger: slog.New(slog.NewTextHandler(c.logs, nil))}
	if change != nil {
		change(&opt)
	}
	return opt
}

func (c *testCluster) stop(name string) {
	c.t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), patience)
	defer cancel()
	require.NoError(c.t, c.nodes[name].Close(ctx))
	delete(c.nodes, name)
}

// formed waits until all nodes that run have formed.
func (c *testCluster) formed() {
	c.t.Helper()
	for name, n := range c.nodes {
		select {
		case <-n.Formed():
		case <-time.After(patience):
			c.t.Fatalf("node %s has not formed: %v", name, n.Ready(c.t.Context()))
		}
	}
}

// connected waits until all nodes that run can replicate to each other.
func (c *testCluster) connected() {
	c.t.Helper()
	c.formed()
	c.eventually(func() bool {
		for _, n := range c.nodes {
			for _, p := range n.peers.All() {
				if c.nodes[p.Name()] != nil && !p.Alive() {
					return false
				}
			}
		}
		return true
	})
}

func (c *testCluster) eventually(is func() bool) {
	c.t.Helper()
	require.Eventually(c.t, is, patience, time.Millisecond)
}

// newFormed starts a cluster.
func newFormed(t testing.TB, size int, change func(*Options)) *testCluster {
	t.Helper()
	c := newTestCluster(t, size)
	for _, m := range c.initial {
		c.start(m.Name, change)
	}
	c.connected()
	return c
}

// keyOf returns a key whose slot prefers a node as home.
func (c *testCluster) keyOf(n *Node) string {
	for i := 0; ; i++ {
		key := fmt.Sprintf("key-%d", i)
		if n.replicas.View().Table.Replicas(ring.SlotOf([]byte(key)))[0] == n.self().ID {
			return key
		}
	}
}

// logBuffer keeps what nodes log.
type logBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *logBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *logBuffer) contains(text string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Contains(b.text.String(), text)
}

// count returns how often a text was logged.
func (b *logBuffer) count(text string) int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return strings.Count(b.text.String(), text)
}

// client is a proxy, or whatever its hello says, that speaks frames to one node.
type client struct {
	t      testing.TB
	link   *wire.Link
	caller *protocol.Caller
	epoch  uint64
	up     chan struct{}
	down   chan error

	mu      sync.Mutex
	next    uint64
	results map[uint64]chan protocol.Result
	replies chan register.Message // FrameReplicateReply
	news    []protocol.RingNews   // FrameRing
	watched map[uint64]bool       // FrameWatched
	changed map[uint64]int        // FrameChanged
	ahead   map[uint64][]byte     // FrameReplyPiece, by operation
	order   []uint64              // of the results that have come
}

// rings returns what the node has said of the ring since it was connected.
func (cl *client) rings() []protocol.RingNews {
	cl.mu.Lock()
	defer cl.mu.Unlock()
	return slices.Clone(cl.news)
}

func (c *testCluster) proxyHello() wire.Hello {
	return protocol.Properties{Initial: c.initial.String(), Pieces: true}.Encode(wire.Hello{Role: wire.RoleProxy, Name: "proxy", Cluster: "test"})
}

// dial connects a proxy with a node.
func (c *testCluster) dial(n *Node) *client {
	c.t.Helper()
	cl := c.connect(n, c.proxyHello(), nil)
	select {
	case <-cl.up:
	case <-time.After(patience):
		c.t.Fatalf("no connection to %s: %v", n.opt.Name, cl.link.Err())
	}
	return cl
}

// dialAs connects with a node as if it were another one.
func (c *testCluster) dialAs(n, other *Node) *client {
	c.t.Helper()
	cl := c.connect(n, other.members.Hello(), nil)
	received(c.t, cl.up)
	return cl
}

func (c *testCluster) connect(n *Node, hello wire.Hello, secret []byte) *client {
	cl := &client{t: c.t, epoch: 1, up: make(chan struct{}, 100), down: make(chan error, 100),
		results: map[uint64]chan protocol.Result{}, watched: map[uint64]bool{}, changed: map[uint64]int{}, ahead: map[uint64][]byte{}, replies: make(chan register.Message, 100)}
	cl.link = wire.NewLink(wire.LinkConfig{
		Options: wire.Options{Secret: secret, Logger: slog.New(slog.DiscardHandler)},
		Address: n.Address(),
		Hello:   func() wire.Hello { return hello },
		OnUp:    func(uint64, wire.Hello) { cl.up <- struct{}{} },
		OnFrame: cl.frame,
		OnDown:  func(_ uint64, err error) { cl.caller.Down(err); cl.down <- err },
	})
	cl.caller = protocol.NewCaller(cl.link)
	cl.link.Start(context.Background())
	c.t.Cleanup(cl.link.Close)
	return cl
}

func (cl *client) frame(typ wire.FrameType, body []byte, _ time.Duration) {
	body = bytes.Clone(body)
	d := wire.NewDecoder(body)
	switch typ {
	case protocol.FrameCallReply:
		cl.caller.HandleReply(body, nil)
	case protocol.FrameReplicateReply:
		for d.More() {
			var m register.Message
			protocol.DecodeReply(&d, &m)
			cl.replies <- m
		}
	case protocol.FrameRing:
		news, err := protocol.DecodeRingNews(body)
		require.NoError(cl.t, err)
		cl.mu.Lock()
		cl.news = append(cl.news, news)
		cl.mu.Unlock()
	case protocol.FrameWatched:
		ids, err := protocol.DecodeWatched(body)
		require.NoError(cl.t, err)
		cl.mu.Lock()
		for _, id := range ids {
			cl.watched[id] = true
		}
		cl.mu.Unlock()
	case protocol.FrameChanged:
		list, err := protocol.DecodeKeyChanges(body)
		require.NoError(cl.t, err)
		cl.mu.Lock()
		for _, c := range list {
			cl.changed[c.ID]++
		}
		cl.mu.Unlock()
	case protocol.FrameReplyPiece:
		p, err := protocol.DecodeReplyPiece(body)
		require.NoError(cl.t, err)
		cl.mu.Lock()
		require.Len(cl.t, cl.ahead[p.ID], p.Offset)
		cl.ahead[p.ID] = append(cl.ahead[p.ID], p.Bytes...)
		cl.mu.Unlock()
	case protocol.FrameBatchReply:
		for d.More() {
			var r protocol.Result
			protocol.DecodeResult(&d, &r)
			cl.mu.Lock()
			cl.order = append(cl.order, r.ID)
			cl.results[r.ID] <- r
			cl.mu.Unlock()
		}
	}
	if d.Err() != nil {
		panic(d.Err())
	}
}

// reconnected waits until the node has closed the connection, and there is another one.
func (cl *client) reconnected() {
	cl.t.Helper()
	late := time.After(patience)
	select {
	case <-cl.down:
	case <-late:
		cl.t.Fatal("the connection is not closed")
	}
	select {
	case <-cl.up:
	case <-late:
		cl.t.Fatal("no other connection")
	}
}

// send sends operations in one frame; each result comes on its channel.
func (cl *client) send(ops ...protocol.Op) []chan protocol.Result {
	cl.t.Helper()
	frame := protocol.AppendVersion(wire.BeginFrame(nil, protocol.FrameBatch), cl.epoch)
	var channels []chan protocol.Result
	cl.mu.Lock()
	for i := range ops {
		cl.next++
		ops[i].ID = cl.next
		ch := make(chan protocol.Result, 2)
		cl.results[cl.next] = ch
		channels = append(channels, ch)
		frame = protocol.AppendOp(frame, &ops[i])
	}
	cl.mu.Unlock()
	require.NoError(cl.t, cl.link.SendFrames(wire.EndFrame(frame, 0)))
	return channels
}

func (cl *client) one(op protocol.Op) protocol.Result {
	cl.t.Helper()
	return cl.wait(cl.send(op)[0])
}

func (cl *client) wait(ch chan protocol.Result) protocol.Result {
	cl.t.Helper()
	return received(cl.t, ch)
}

// received is what comes on a channel. The test fails if nothing does.
func received[T any](t testing.TB, ch <-chan T) T {
	t.Helper()
	select {
	case v := <-ch:
		return v
	case <-time.After(patience):
		t.Fatal("nothing came")
		panic("unreachable")
	}
}

// barrier returns when everything that the node has sent on this connection so far
// has arrived: a refusal waits for no commit.
func (cl *client) barrier() {
	cl.t.Helper()
	epoch := cl.epoch
	cl.epoch = 1 << 40
	defer func() { cl.epoch = epoch }()
	require.Contains(cl.t, []register.Reason{register.EpochChanged, register.NotVoting}, cl.one(op(protocol.ReadVersion, "get any")).Reason)
}

// do executes a command at its home, as a proxy does it that finds it by trial.
func (cl *client) do(words string) protocol.Result {
	cl.t.Helper()
	o := op(protocol.Execute, words)
	o.Except = protocol.AllOthers
	return cl.one(o)
}

func (cl *client) replicate(m register.Message) {
	cl.t.Helper()
	frame := protocol.AppendRequest(wire.BeginFrame(nil, protocol.FrameReplicate), &m)
	require.NoError(cl.t, cl.link.SendFrames(wire.EndFrame(frame, 0)))
}

var opsByName = map[string]command.Op{"get": command.OpGet, "set": command.OpSet, "append": command.OpAppend, "del": command.OpDel, "psetex": command.OpPSetEX,
	"hset": command.OpHSet, "hget": command.OpHGet, "hgetall": command.OpHGetAll, "hdel": command.OpHDel, "hvals": command.OpHVals, "hlen": command.OpHLen}

// op makes an operation of a kind from "get k" and the like.
func op(kind protocol.OpKind, words string) protocol.Op {
	var args [][]byte
	for word := range strings.FieldsSeq(words) {
		args = append(args, []byte(word))
	}
	return protocol.Op{Kind: kind, Slot: ring.SlotOf(args[1]), Req: command.Request{Op: opsByName[string(args[0])], Args: args}}
}
