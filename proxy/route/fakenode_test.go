package route

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/ring/change"
)

// fakeNode speaks the peer protocol as a node does, and answers as the test says.
type fakeNode struct {
	*relay // the network between the coordinator and the node
	ring   *fakeRing
	id     uint16
	server *wire.Server
	props  atomic.Pointer[protocol.Properties]
	// document is what it answers to MethodRing, and asked how often it was asked for that.
	document atomic.Pointer[change.Document]
	asked    atomic.Int64
	name     string // of the cluster it says it belongs to

	mu      sync.Mutex
	answers func(protocol.Method, []byte) ([]byte, error) // calls, if it is there
	entries []protocol.ScanEntry                          // what it answers to MethodScan and MethodStats
	scanned int                                           // pages asked for
	conns   []*wire.ServerConn                            // that have been opened
	moved   []protocol.Address                            // what it says of members' addresses
	// forge, if set, replaces the page that the node would answer with.
	forge func(from protocol.Place, page []byte) []byte

	working atomic.Bool             // it says that it is behind
	silent  atomic.Bool             // it does not say what it watches
	watched []protocol.WatchRequest // what it was asked to watch on the newest connection, and not to watch no more; under mu

	told told

	frames, longest atomic.Int64 // batch frames that came, and the longest of them
}

// startNode starts a node that says of itself what props has.
func startNode(t testing.TB, fr *fakeRing, id uint16, cluster string) *fakeNode {
	t.Helper()
	n := &fakeNode{ring: fr, id: id, name: cluster}
	n.props.Store(&protocol.Properties{State: "forming"})
	n.server = wire.NewServer(wire.ServerConfig{Options: wire.Options{Logger: quietLog()}, Handler: n, Accept: n.accept, Working: n.working.Load})
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	done := make(chan error, 1)
	go func() { done <- n.server.Serve(listener) }()
	t.Cleanup(func() {
		n.server.Close()
		assert.ErrorIs(t, <-done, wire.ErrClosed)
	})
	n.relay = startRelay(t, listener.Addr().String())
	return n
}

func (n *fakeNode) accept(wire.Hello) (wire.Hello, error) {
	return n.props.Load().Encode(wire.Hello{Role: wire.RoleNode, Name: "n", Cluster: n.name}), nil
}

// vote makes the node part of a ring.
func (n *fakeNode) vote(doc change.Document) {
	n.document.Store(&doc)
	m, _ := doc.Member(n.id)
	n.props.Store(&protocol.Properties{Voting: true, Member: &m.Member, Ring: newsOf(doc)})
}

func newsOf(doc change.Document) protocol.RingNews {
	return protocol.RingNews{Formation: doc.Formation, Version: doc.Version, Digest: doc.Digest()}
}

// fakeConn collects the replies to one frame in one frame.
type fakeConn struct {
	conn *wire.ServerConn

	mu      sync.Mutex
	inFrame bool
	out     []byte
	op      protocol.Op // for quick
}

func (n *fakeNode) Open(c *wire.ServerConn, _ wire.Hello) {
	c.Data = &fakeConn{conn: c}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.conns, n.watched = append(n.conns, c), nil
	if news := n.props.Load().Ring; news.Formation != 0 {
		_ = c.SendFrames(protocol.RingFrame(news)) // as a node does: the hello may have named an earlier version, and who was told since was not this one
	}
}

// push tells everybody who is connected of a ring.
func (n *fakeNode) push(news protocol.RingNews) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, c := range n.conns {
		_ = c.SendFrames(protocol.RingFrame(news)) // some have ended
	}
}
func (n *fakeNode) Idle(*wire.ServerConn)          {}
func (n *fakeNode) Closed(*wire.ServerConn, error) {}

func (n *fakeNode) Frame(c *wire.ServerConn, typ wire.FrameType, body []byte, _ time.Duration) {
	switch typ {
	case protocol.FrameBatch:
		if n.ring.quick {
			c.Data.(*fakeConn).quick(body)
			return
		}
		n.longest.Store(max(n.longest.Load(), int64(len(body))))
		n.batch(c.Data.(*fakeConn), n.frames.Add(1), body)
	case protocol.FrameWatch:
		n.watch(c, body)
	case protocol.FrameInterest, protocol.FramePublish:
		n.messages(c, typ, body)
	case protocol.FrameCall:
		id, method, payload, err := protocol.DecodeCall(body)
		var reply []byte
		if err == nil {
			reply, err = n.call(method, payload)
		}
		_ = c.SendFrames(protocol.AppendCallReply(nil, id, reply, err))
	}
}

func (n *fakeNode) batch(c *fakeConn, frame int64, body []byte) {
	c.frame(true)
	defer c.frame(false)
	d := wire.NewDecoder(body)
	epoch := d.Uvarint()
	for d.More() {
		r := &request{node: n, conn: c, epoch: epoch, frame: frame}
		protocol.DecodeOp(&d, &r.Op)
		if d.Err() != nil {
			panic(d.Err())
		}
		for i, arg := range r.Req.Args {
			r.Req.Args[i] = append([]byte(nil), arg...)
		}
		n.ring.deliver(r)
	}
}

// frame says that a frame of requests begins or ends; then the replies are sent.
func (c *fakeConn) frame(begins bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inFrame = begins
	if !begins && len(c.out) > 0 {
		_ = c.conn.SendFrames(wire.EndFrame(c.out, 0))
		c.out = nil
	}
}

func (c *fakeConn) result(r protocol.Result) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.out) == 0 {
		c.out = wire.BeginFrame(nil, protocol.FrameBatchReply)
	}
	c.out = protocol.AppendResult(c.out, &r)
	if !c.inFrame {
		_ = c.conn.SendFrames(wire.EndFrame(c.out, 0)) // whoever has gone away needs no reply
		c.out = nil
	}
}

// request is an operation that came to a node. Scripts answer it, now or later.
type request struct {
	protocol.Op
	node  *fakeNode
	conn  *fakeConn
	epoch uint64
	frame int64 // in which it came
}

func (r *request) arg(i int) string { return string(r.Req.Args[i]) }

// place is that of the operation in its batch.
func (r *request) place() int { return int(r.ID & (maxOpsRun - 1)) }

func (r *request) done(reply string) {
	r.conn.result(protocol.Result{ID: r.ID, Status: protocol.StatusDone, Reply: []byte(reply)})
}

func (r *request) notDone(reason answer.Reason, hint uint16) {
	r.conn.result(protocol.Result{ID: r.ID, Status: protocol.StatusNotDone, Reason: reason, Hint: hint})
}

func (r *request) unknown() { r.conn.result(protocol.Result{ID: r.ID, Status: protocol.StatusUnknown}) }
func (r *request) askHome() { r.conn.result(protocol.Result{ID: r.ID, Status: protocol.StatusAskHome}) }

// vote answers a quorum read as it was asked.
func (r *request) vote(seq uint64, reply string) {
	version := record.Version{Ballot: record.Ballot{Counter: 1, Incarnation: 1 << 16}, Seq: seq}
	if seq == 0 {
		version = record.Version{}
	}
	result := protocol.Result{ID: r.ID, Status: protocol.StatusVersion, Version: version}
	if r.Kind == protocol.ReadValue {
		result.Status, result.Reply = protocol.StatusValue, []byte(reply)
	}
	r.conn.result(result)
}

// errNotAnswered is what answers say of a call that is to be answered as ever.
var errNotAnswered = errors.New("not answered by the test")

// call answers the rare requests.
func (n *fakeNode) call(method protocol.Method, payload []byte) ([]byte, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.answers != nil {
		if reply, err := n.answers(method, payload); !errors.Is(err, errNotAnswered) {
			return reply, err
		}
	}
	switch method {
	case protocol.MethodScan:
		n.scanned++
		asked, err := protocol.DecodeScanRequest(payload)
		page := protocol.ScanPage{Next: protocol.EndPlace}
		for _, e := range n.entries {
			if !asked.Of.Selects(e.Key) {
				continue
			}
			if e.Place >= asked.From && len(page.Entries) < asked.Limit {
				page.Entries = append(page.Entries, e)
			} else if e.Place >= asked.From {
				page.Next = e.Place
				break
			}
		}
		reply := protocol.AppendScanPage(nil, &page)
		if n.forge != nil {
			reply = n.forge(asked.From, reply)
		}
		return reply, err
	case protocol.MethodRing:
		n.asked.Add(1)
		request, err := protocol.DecodeRingRequest(payload)
		doc := n.document.Load()
		if err != nil || doc == nil {
			return nil, errors.New("no ring")
		}
		if request.Formation != doc.Formation {
			request.Since = 0
		}
		return protocol.RingReply{Moved: n.moved, Delta: doc.Since(request.Since)}.Append(nil), nil
	case protocol.MethodStats:
		return protocol.AppendSlotCounts(nil, countSlots(n.entries), nil), nil
	}
	return nil, errors.New("the fake node does not have this method")
}

func countSlots(entries []protocol.ScanEntry) []protocol.SlotCount {
	var counts []protocol.SlotCount
	for _, e := range entries {
		if e.Type == record.None {
			continue
		}
		if n := len(counts); n == 0 || counts[n-1].Slot != e.Place.Slot() {
			counts = append(counts, protocol.SlotCount{Slot: e.Place.Slot()})
		}
		last := &counts[len(counts)-1]
		last.Live++
		if id, _ := database.Split(e.Key); id > 0 {
			last.Others++
		}
		last.Digest += e.Version.Seq*1e9 + e.Place.Position()
	}
	return counts
}

// isWrite reports whether a request is one of the writes that tests use.
func (r *request) isWrite() bool {
	return r.Kind == protocol.Execute && r.Req.Op != command.OpGet && r.Req.Op != command.OpType
}
