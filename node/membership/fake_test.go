package membership

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// fakeNode is a Node, and all there is of it.
type fakeNode struct {
	*Membership
	peers     []Peer
	entered   atomic.Pointer[change.Document] // that it votes in
	met       atomic.Pointer[change.Document] // of which it is no member
	announced atomic.Pointer[announced]
	failed    atomic.Pointer[error]
	broken    atomic.Pointer[error]
	keys      uint64
	asked     atomic.Int64 // for the ring
}

// announced is what a node has said of the ring last.
type announced struct {
	protocol.RingNews
	nodes bool
}

// fakePeer is a node as another one sees it: what it is asked it answers at once.
type fakePeer struct {
	node    *fakeNode
	address string
	down    atomic.Bool
}

// initial is an initial cluster of nodes a, b, c and so on.
func initial(size int) (members ring.Initial) {
	for i := range size {
		name := string(rune('a' + i))
		members = append(members, ring.InitialMember{Name: name, Peer: name + ".example:1"})
	}
	return members
}

// newFakes returns nodes that know each other, and of which none runs.
func newFakes(t testing.TB, size int, change func(*Options)) []*fakeNode {
	members, nodes := initial(size), make([]*fakeNode, size)
	for i, m := range members {
		opt := Options{Name: m.Name, ClusterName: "test", Initial: members, Replicas: min(3, size), Weight: 1, Logger: slog.New(slog.DiscardHandler)}
		if change != nil {
			change(&opt)
		}
		nodes[i] = &fakeNode{}
		var err error
		nodes[i].Membership, err = New(nodes[i], opt)
		require.NoError(t, err)
	}
	for _, n := range nodes {
		for i, other := range nodes {
			if other != n {
				n.peers = append(n.peers, &fakePeer{node: other, address: members[i].Peer})
			}
		}
	}
	return nodes
}

// run runs nodes until the test ends.
func run(t testing.TB, nodes ...*fakeNode) {
	for _, n := range nodes {
		ended := make(chan struct{})
		go func() { defer close(ended); n.Run(t.Context()) }()
		t.Cleanup(func() { <-ended })
	}
}

// formed waits until a node has formed.
func formed(t testing.TB, n *fakeNode) *change.Document {
	t.Helper()
	select {
	case <-n.Formed():
	case <-time.After(10 * time.Second):
		t.Fatal("it has not formed")
	}
	require.NotNil(t, n.entered.Load())
	return n.entered.Load()
}

func (n *fakeNode) Prepare(doc change.Document) (func(), error) {
	return func() { n.entered.Store(&doc) }, nil
}

func (n *fakeNode) Learn(doc change.Document) error {
	n.entered.Store(&doc)
	return nil
}

func (n *fakeNode) Acquaint(doc change.Document) { n.met.Store(&doc) }

func (n *fakeNode) Announce(news protocol.RingNews, nodes bool) {
	n.announced.Store(&announced{news, nodes})
}

func (n *fakeNode) Peers() []Peer                { return n.peers }
func (n *fakeNode) State() (admin.State, string) { return n.Membership.State() }
func (n *fakeNode) Proxies() int                 { return 0 }
func (n *fakeNode) Holds() (keys, bytes uint64)  { return n.keys, 2 * n.keys }
func (n *fakeNode) StorageFailed(err error)      { n.failed.Store(&err) }
func (n *fakeNode) Failed() bool                 { return n.failed.Load() != nil }
func (n *fakeNode) Broken(err error)             { n.broken.Store(&err) }

func (p *fakePeer) ID() uint16          { return p.node.Self().ID }
func (p *fakePeer) Name() string        { return p.node.opt.Name }
func (p *fakePeer) Address() string     { return p.address }
func (p *fakePeer) Up() bool            { return !p.down.Load() }
func (p *fakePeer) Down() bool          { return p.down.Load() }
func (p *fakePeer) Unreachable() string { return "down" }

func (p *fakePeer) Properties() *protocol.Properties {
	props, err := protocol.DecodeProperties(p.node.Hello())
	if err != nil {
		panic(err)
	}
	return &props
}

func (p *fakePeer) Ask(ctx context.Context, method protocol.Method, payload []byte) (reply []byte, err error) {
	if p.down.Load() {
		return nil, fmt.Errorf("it is down")
	}
	var begin func()
	switch method {
	case protocol.MethodPropose:
		err = p.node.AnswerPropose(payload)
	case protocol.MethodCommit:
		err = p.node.AnswerCommit(payload)
	case protocol.MethodRing:
		p.node.asked.Add(1)
		reply, err = p.node.AnswerRing(payload)
	case protocol.MethodReform:
		if reply, begin, err = p.node.AnswerReform(payload); begin != nil {
			begin()
		}
	}
	return reply, err
}

// fakeIdentity is an Identity in memory.
type fakeIdentity struct {
	generation uint64
	ring       *change.Document
	lost       string
	restored   string
	saves      error
}

func (f *fakeIdentity) Generation() uint64     { return f.generation }
func (f *fakeIdentity) Ring() *change.Document { return f.ring }
func (f *fakeIdentity) LostState() string      { return f.lost }
func (f *fakeIdentity) Restored() string       { return f.restored }
func (f *fakeIdentity) Present() error         { return nil }
func (f *fakeIdentity) SaveRing(doc change.Document) error {
	if f.saves == nil {
		f.ring = &doc
	}
	return f.saves
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	payload, err := json.Marshal(v)
	require.NoError(t, err)
	return payload
}

// documentOf is what a ring begins with.
func documentOf(t testing.TB, cluster ring.Cluster) change.Document {
	t.Helper()
	doc, err := change.FromCluster(cluster)
	require.NoError(t, err)
	return doc
}

// apply returns what comes of a document by entries.
func apply(t testing.TB, doc change.Document, entries ...change.Entry) change.Document {
	t.Helper()
	for _, e := range entries {
		var err error
		doc, err = change.Apply(doc, e, 1)
		require.NoError(t, err)
	}
	return doc
}

// offer has a node that does not run take up a document at once.
func (n *fakeNode) takes(doc change.Document) {
	n.Offer(doc)
	n.takeOffer()
}
