package node

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/metrics"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/gossip"
)

// Options say what a node is.
type Options struct {
	Name        string
	ClusterName string
	// Initial is the initial cluster; Name is in it.
	Initial  ring.Initial
	Replicas int
	Rack     string
	Weight   int
	// Listener accepts peers; the node closes it. Its address as others reach it is in Initial.
	Listener net.Listener
	// GossipListen is where to gossip, host:port; GossipAdvertise where others reach
	// it, empty for the real address of GossipListen.
	GossipListen, GossipAdvertise string
	// Engine stores the records; the node closes it.
	Engine engine.Engine
	// Secret guards the peer and gossip ports, empty for none.
	Secret []byte
	// OperationTimeout is what proxies use: one second. Requests that are older than
	// that are not executed any more.
	OperationTimeout time.Duration
	MaxConnections   int
	// MaxPending bounds the bytes of the requests that the node works on: 256 MiB.
	MaxPending int64
	Version    string
	Logger     *slog.Logger
	// Now is the wall clock in Unix milliseconds, nil for the system's.
	Now func() int64
}

func (o *Options) setDefaults() {
	if o.Logger == nil {
		o.Logger = slog.Default()
	}
	if o.OperationTimeout == 0 {
		o.OperationTimeout = time.Second
	}
	if o.MaxPending == 0 {
		o.MaxPending = 256 << 20
	}
}

// Node is a running node.
type Node struct {
	// Metrics counts what the node does.
	Metrics metrics.Node

	opt      Options
	log      *slog.Logger
	initial  ring.Initial
	self     ring.Member
	engine   engine.Engine
	prefetch prefetcher // the engine, if it can; nil otherwise
	started  time.Time
	unique   uint64 // makes incarnations unique per process start
	timing   register.Timing

	peers    []*peer
	byID     []*peer // by member ID, nil for this node
	server   *wire.Server
	gossip   *gossip.Gossip
	stripes  [stripes]stripe
	outboxes sync.Pool
	inFlight atomic.Int64 // requests that are not answered,
	pending  atomic.Int64 // and their bytes
	calls    atomic.Int64 // that are being answered

	view       atomic.Pointer[view]         // nil until the cluster has formed
	superseded atomic.Pointer[ring.Cluster] // the ring that knows a former life of this node
	failed     atomic.Bool                  // the store failed
	formed     chan struct{}
	mu         sync.Mutex // formation
	bound      uint64     // digest of the ring that was proposed last

	cancel context.CancelFunc
	wait   sync.WaitGroup
}

// tickInterval is how often homes with something in flight look after it.
const tickInterval = 20 * time.Millisecond

// Start starts a node. It serves as soon as the cluster has formed, which needs
// every member of the initial cluster once. Close stops it.
func Start(opt Options) (*Node, error) {
	opt.setDefaults()
	n := &Node{opt: opt, log: opt.Logger, initial: opt.Initial, engine: opt.Engine, started: time.Now(),
		unique: rand.Uint64() >> 16, timing: register.DefaultTiming(), formed: make(chan struct{})}
	n.prefetch, _ = opt.Engine.(prefetcher)
	n.timing.Request = opt.OperationTimeout.Milliseconds() * 3 / 2
	cluster := n.initial.Cluster(opt.ClusterName, opt.Replicas)
	self, ok := cluster.ByName(opt.Name)
	if !ok {
		return nil, fmt.Errorf("node %s is not in the initial cluster %s", opt.Name, n.initial)
	}
	n.self = self
	n.self.Rack, n.self.Weight, n.self.Generation = opt.Rack, opt.Weight, rand.Uint64()|1
	for i := range n.stripes {
		n.stripes[i].node = n
	}
	n.byID = make([]*peer, len(cluster.Members)+1)
	for _, m := range cluster.Members {
		if m.Name != opt.Name {
			p := n.newPeer(len(n.peers), m)
			n.peers, n.byID[m.ID] = append(n.peers, p), p
		}
	}
	if err := n.startGossip(); err != nil { // it asks for the peers from now on
		return nil, err
	}
	n.outboxes.New = func() any { return n.newOutbox() }
	n.server = wire.NewServer(wire.ServerConfig{Options: n.wireOptions(), Handler: n, Accept: n.accept, MaxConns: opt.MaxConnections})
	ctx, cancel := context.WithCancel(context.Background())
	n.cancel = cancel
	for _, p := range n.peers {
		p.link.Start(ctx)
	}
	n.wait.Go(func() { n.serve() })
	n.wait.Go(func() { n.formCluster(ctx) })
	n.wait.Go(func() { n.ticks(ctx) })
	return n, nil
}

func (n *Node) startGossip() error {
	if n.opt.GossipListen == "" {
		return nil
	}
	g, err := gossip.Start(gossip.Config{Name: n.opt.Name, Cluster: n.opt.ClusterName, Bind: n.opt.GossipListen, Advertise: n.opt.GossipAdvertise,
		SecretKey: gossipKey(n.opt.Secret), Known: n.knownGossip, Logger: n.log})
	if err != nil {
		return err
	}
	n.gossip = g
	n.self.Gossip = n.opt.GossipAdvertise
	if n.self.Gossip == "" {
		n.self.Gossip = g.Addr()
	}
	return nil
}

// knownGossip returns where the other members gossip, as they said themselves.
func (n *Node) knownGossip() []string {
	var known []string
	for _, p := range n.peers {
		if h := p.hello.Load(); h != nil && h.Member != nil && h.Member.Gossip != "" {
			known = append(known, h.Member.Gossip)
		}
	}
	return known
}

func (n *Node) serve() {
	if err := n.server.Serve(n.opt.Listener); err != nil && !errors.Is(err, wire.ErrClosed) {
		n.log.Error("the peer port failed", "err", err)
	}
}

func (n *Node) ticks(ctx context.Context) {
	ticker := time.NewTicker(tickInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			n.tick()
		}
	}
}

// Formed is closed when the node has become part of a ring.
func (n *Node) Formed() <-chan struct{} { return n.formed }

// Address returns where the node listens for peers.
func (n *Node) Address() string { return n.opt.Listener.Addr().String() }

// Close stops the node in order: no more peers, no more work, gossip, links, store.
// It waits for everything the node started, for what is queued at most until ctx ends.
func (n *Node) Close(ctx context.Context) error {
	n.server.Shutdown(ctx)
	n.cancel()
	for _, p := range n.peers {
		p.link.Close()
	}
	n.wait.Wait()
	if n.gossip != nil {
		if err := n.gossip.Close(); err != nil {
			n.log.Debug("closing gossip", "err", err)
		}
	}
	return n.engine.Close()
}

func (n *Node) wireOptions() wire.Options {
	return wire.Options{Secret: n.opt.Secret, Logger: n.log}
}

func (n *Node) now() int64 {
	if n.opt.Now != nil {
		return n.opt.Now()
	}
	return time.Now().UnixMilli()
}

// mono is a monotonic clock in milliseconds, above zero.
func (n *Node) mono() int64 { return time.Since(n.started).Milliseconds() + 1 }

func (n *Node) incarnation(self uint16) uint64 { return record.NewIncarnation(n.unique, self) }

// peerOf returns the link to a member, nil for this node and for strangers.
func (n *Node) peerOf(id uint16) *peer {
	if int(id) >= len(n.byID) {
		return nil
	}
	return n.byID[id]
}

// storageFailed stops the node from voting: what its store says cannot be trusted
// any more.
func (n *Node) storageFailed(err error) {
	if n.failed.CompareAndSwap(false, true) {
		n.log.Error("the store failed; this node does not vote any more", "err", err)
	}
}
