package route

import (
	"cmp"
	"context"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

// Config says how a coordinator reaches the cluster.
type Config struct {
	// Name tells this proxy from others in the nodes' logs.
	Name        string
	ClusterName string
	// Seeds are the peer addresses of some nodes; the rest is learned from them.
	Seeds []string
	// Dial connects to a node at its peer address, nil for TCP.
	Dial func(ctx context.Context, address string) (net.Conn, error)
	// Rack is where this proxy is: what keys hold is asked of replicas there if there are any, and of others only which version they have. Empty: the home of a key is asked.
	Rack string
	// Own is the peer address of the node in whose process this is, empty for none.
	Own string
	// Initial is compared with the nodes' if it is not empty.
	Initial string
	// Secret is the cluster's, empty for none.
	Secret []byte
	// TLS encrypts the connections with nodes; nil for none.
	TLS *wire.TLS
	// OperationTimeout bounds Execute, as long as no node says that it is behind with what it was asked for.
	OperationTimeout time.Duration
	// SlowTimeout bounds Execute in any case: five minutes.
	SlowTimeout time.Duration
	Version     string
	Logger      *slog.Logger
	// Random are the random numbers of links, nil for others each time. It must be safe to be used by several goroutines.
	Random *rand.Rand

	suspectAfter time.Duration // wire's default, unless a test must not depend on it
}

// Coordinator executes operations on the cluster: it knows the ring, has a link to
// every node, counts votes, and finds the homes. It implements Cluster.
type Coordinator struct {
	cfg  Config
	log  *slog.Logger
	ring atomic.Pointer[ringView] // nil until it is learned

	document  change.Document // that ring is made of; manage's
	placed    atomic.Pointer[database.Placements]
	heard     heard
	placement placement
	seeds     atomic.Pointer[[]*nodeLink] // of the beginning
	loaded    atomic.Bool                 // the nodes have been there once

	batches   batchTable
	chosen    chosen
	watches   watches
	interests *interests
	broker    atomic.Pointer[nodeLink] // that publishes for this proxy
	users     usersHeard
	// parameters is Document.ParametersAt, as this proxy knows it.
	parameters atomic.Uint64
	stats      Stats
	pauses     pauses
	ending     atomic.Bool // nobody waits for nodes that are behind

	ctx    context.Context
	cancel context.CancelFunc
	wait   sync.WaitGroup
}

var _ Cluster = (*Coordinator)(nil)

// Stats counts what a coordinator does.
type Stats struct {
	// QuorumReads were answered by a majority at one version, HomeReads by a home.
	QuorumReads, HomeReads atomic.Uint64
	// NearestReads were answered by the nearest replica alone, for clients that are READONLY.
	NearestReads atomic.Uint64
	// Retries counts operations that were sent again.
	Retries atomic.Uint64
	// Slow counts operations that took longer than the operation time-out, since nodes are behind.
	Slow atomic.Uint64
	// OwnRack and OtherRacks are the bytes of links to nodes, by whether these are in the rack of the proxy.
	OwnRack, OtherRacks Traffic
}

// New starts a coordinator, which learns the ring in the background.
// Close stops it.
func New(cfg Config) *Coordinator {
	cfg.SlowTimeout = cmp.Or(cfg.SlowTimeout, 5*time.Minute)
	c := &Coordinator{cfg: cfg, log: cfg.Logger, pauses: pauses{begun: time.Now()}, heard: newHeard(), interests: newInterests()}
	c.watches.coordinator = c
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.placed.Store(new(database.Placements))
	var seeds []*nodeLink
	for _, address := range c.cfg.Seeds {
		seeds = append(seeds, c.newLink(ring.Member{Peer: address}, 0, 0))
	}
	c.seeds.Store(&seeds)
	c.wait.Go(func() { c.manage(seeds) })
	c.wait.Go(func() { c.pauses.watch(c.ctx) })
	c.wait.Go(func() { c.tellWaiting(c.ctx) })
	c.wait.Go(func() { c.watches.run(c.ctx) })
	return c
}

// Close closes all links; operations that run are answered first, since nothing
// more comes from the nodes.
func (c *Coordinator) Close() {
	c.cancel()
	c.wait.Wait()
}

// Stats returns the counters.
func (c *Coordinator) Stats() *Stats { return &c.stats }

// EndWaiting implements Cluster. Batches see it within half an operation time-out, when they look again at what they wait for.
func (c *Coordinator) EndWaiting() { c.ending.Store(true) }

// Working implements Cluster.
func (c *Coordinator) Working() bool {
	view := c.ring.Load()
	return view != nil && slices.ContainsFunc(view.nodes, func(l *nodeLink) bool { return l.link.Working() })
}
