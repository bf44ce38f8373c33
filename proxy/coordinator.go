package proxy

import (
	"cmp"
	"context"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/ring"
)

// CoordinatorConfig says how a coordinator reaches the cluster.
type CoordinatorConfig struct {
	// Name tells this proxy from others in the nodes' logs.
	Name        string
	ClusterName string
	// Seeds are the peer addresses of some nodes; the rest is learned from them.
	Seeds []string
	// Initial is compared with the nodes' if it is not empty.
	Initial string
	// Secret is the cluster's, empty for none.
	Secret []byte
	// OperationTimeout bounds Execute, as long as no node says that it is behind with what it was asked for.
	OperationTimeout time.Duration
	// SlowTimeout bounds Execute in any case: five minutes.
	SlowTimeout time.Duration
	Version     string
	Logger      *slog.Logger

	suspectAfter time.Duration // wire's default, unless a test must not depend on it
}

// Coordinator executes operations on the cluster: it knows the ring, has a link to
// every node, counts votes, and finds the homes. It implements Cluster.
type Coordinator struct {
	cfg  CoordinatorConfig
	log  *slog.Logger
	ring atomic.Pointer[ringView] // nil until it is learned

	seeds  atomic.Pointer[[]*nodeLink] // of the beginning
	loaded atomic.Bool                 // the nodes have been there once

	batches batchTable
	stats   CoordinatorStats
	pauses  pauses

	offers chan ring.Cluster // rings that nodes told of
	ctx    context.Context
	cancel context.CancelFunc
	wait   sync.WaitGroup
}

// CoordinatorStats counts what a coordinator does.
type CoordinatorStats struct {
	// QuorumReads were answered by a majority at one version, HomeReads by a home.
	QuorumReads, HomeReads atomic.Uint64
	// Retries counts operations that were sent again.
	Retries atomic.Uint64
	// Slow counts operations that took longer than the operation time-out, since nodes are behind.
	Slow atomic.Uint64
}

// ringView is the ring and the links to its nodes. It is immutable, but for homes.
type ringView struct {
	cluster ring.Cluster
	digest  uint64
	table   *ring.Table
	known   time.Time   // since when
	nodes   []*nodeLink // in the order of cluster.Members
	byID    []*nodeLink

	// homes are the members that led the slots last, 0 for the preferred one. They are
	// hints: any replica may lead.
	homes [ring.Slots]atomic.Uint32
}

// NewCoordinator starts a coordinator, which learns the ring in the background.
// Close stops it.
func NewCoordinator(cfg CoordinatorConfig) *Coordinator {
	cfg.SlowTimeout = cmp.Or(cfg.SlowTimeout, 5*time.Minute)
	c := &Coordinator{cfg: cfg, log: cfg.Logger, pauses: pauses{begun: time.Now()}, offers: make(chan ring.Cluster, 1)}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	var seeds []*nodeLink
	for _, address := range c.cfg.Seeds {
		seeds = append(seeds, c.newLink(0, address, nil))
	}
	c.seeds.Store(&seeds)
	c.wait.Go(func() { c.manage(seeds) })
	c.wait.Go(func() { c.pauses.watch(c.ctx) })
	c.wait.Go(func() { c.tellWaiting(c.ctx) })
	return c
}

// Close closes all links; operations that run are answered first, since nothing
// more comes from the nodes.
func (c *Coordinator) Close() {
	c.cancel()
	c.wait.Wait()
}

// Stats returns the counters.
func (c *Coordinator) Stats() *CoordinatorStats { return &c.stats }

// manage owns the links: first to the seeds, then to the members of the ring.
func (c *Coordinator) manage(seeds []*nodeLink) {
	defer func() {
		closeLinks(seeds)
		if view := c.ring.Load(); view != nil {
			closeLinks(view.nodes)
		}
	}()
	for {
		select {
		case <-c.ctx.Done():
			return
		case cluster := <-c.offers:
			if c.adopt(cluster) {
				closeLinks(seeds)
				seeds = nil
			}
		}
	}
}

func closeLinks(links []*nodeLink) {
	for _, l := range links {
		l.link.Close()
	}
}

// offer passes on a ring that a node told of. It does not block.
func (c *Coordinator) offer(cluster ring.Cluster) {
	select {
	case c.offers <- cluster:
	default: // another one is being looked at; the node says it again
	}
}

// adopt makes a ring effective: the first one, or one that replaces it because no
// node is part of the old one any more (a memory cluster that was restarted as a whole).
func (c *Coordinator) adopt(cluster ring.Cluster) bool {
	old := c.ring.Load()
	if old != nil && (old.digest == cluster.Digest() || old.anyUp()) {
		return false
	}
	table, err := ring.Plan(cluster)
	if err != nil {
		c.log.Error("the nodes' ring cannot be planned", "err", err)
		return false
	}
	view := &ringView{cluster: cluster, digest: cluster.Digest(), table: table, known: time.Now()}
	for _, m := range cluster.Members {
		for int(m.ID) >= len(view.byID) {
			view.byID = append(view.byID, nil)
		}
		l := c.newLink(m.ID, m.Peer, &cluster)
		view.nodes, view.byID[m.ID] = append(view.nodes, l), l
	}
	c.ring.Store(view)
	if old != nil {
		closeLinks(old.nodes)
	}
	c.log.Info("the ring is known", "epoch", cluster.Epoch, "nodes", len(cluster.Members), "replicas", cluster.Replicas)
	return true
}

// Working implements Cluster.
func (c *Coordinator) Working() bool {
	view := c.ring.Load()
	return view != nil && slices.ContainsFunc(view.nodes, func(l *nodeLink) bool { return l.link.Working() })
}

func (v *ringView) anyUp() bool {
	for _, l := range v.nodes {
		if l.link.State() != wire.Down {
			return true
		}
	}
	return false
}

// node returns the link to a member, nil for strangers.
func (v *ringView) node(id uint16) *nodeLink {
	if int(id) >= len(v.byID) {
		return nil
	}
	return v.byID[id]
}
