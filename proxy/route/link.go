package route

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/ring"
)

// nodeLink is the link to one node.
type nodeLink struct {
	coordinator *Coordinator
	id          uint16 // 0 for a seed
	index       int    // a small number that no other link of a view has; IDs grow with each life of a node
	address     string
	generation  uint64
	ring        *ring.Cluster // that the node must be part of; nil for a seed
	link        *wire.Link
	caller      *protocol.Caller
	version     atomic.Uint64 // of the ring, that the node knows at least
	up          atomic.Bool
	down        atomic.Bool // nothing can be sent
	pace        wire.Pace
}

var errNotVoting = errors.New("proxy: the node does not vote")

// newLink starts a link to a node.
func (c *Coordinator) newLink(id uint16, address string, cluster *ring.Cluster) *nodeLink {
	l := &nodeLink{coordinator: c, id: id, address: address, ring: cluster}
	if cluster != nil {
		m, _ := cluster.Member(id)
		l.generation = m.Generation
		l.version.Store(cluster.Epoch)
	}
	l.down.Store(true)
	l.link = wire.NewLink(wire.LinkConfig{
		Options: wire.Options{Secret: c.cfg.Secret, Logger: c.log, Random: c.cfg.Random},
		Address: address,
		Dial:    c.cfg.Dial,
		Hello:   c.hello,
		Check:   l.check,
		OnFrame: l.frame,
		OnDown:  func(_ uint64, err error) { l.caller.Down(err) },
		OnState: l.state,
		OnPong:  c.compare,

		SuspectAfter: c.cfg.suspectAfter,
	})
	l.caller = protocol.NewCaller(l.link)
	l.link.Start(c.ctx)
	return l
}

func (c *Coordinator) hello() wire.Hello {
	return protocol.Properties{Initial: c.cfg.Initial, Version: c.cfg.Version}.Encode(
		wire.Hello{Role: wire.RoleProxy, Name: c.cfg.Name, Cluster: c.cfg.ClusterName})
}

// check judges what a node says of itself: it must be part of the ring that this
// proxy works with. Every node tells which ring it knows.
func (l *nodeLink) check(h wire.Hello) error {
	props, err := protocol.DecodeProperties(h)
	if err != nil {
		return err
	}
	if h.Cluster != l.coordinator.cfg.ClusterName {
		return fmt.Errorf("node %s belongs to cluster %q, not to %q: correct --cluster-name", h.Name, h.Cluster, l.coordinator.cfg.ClusterName)
	}
	if !props.Voting || props.Cluster == nil {
		return fmt.Errorf("%w: %s: %s", errNotVoting, h.Name, props.State)
	}
	if l.ring == nil {
		l.coordinator.offer(*props.Cluster)
		return nil
	}
	if props.Cluster.Digest() != l.ring.Digest() {
		l.coordinator.offer(*props.Cluster)
		return fmt.Errorf("node %s is part of another ring than this proxy knows; their initial clusters differ: %s",
			h.Name, difference(*l.ring, *props.Cluster))
	}
	return nil
}

// difference explains how two rings differ.
func difference(here, there ring.Cluster) string {
	if diff := ring.Diff(initialOf(here), initialOf(there)); diff != "" {
		return diff
	}
	return "only in the nodes' generations or racks (the cluster was restarted without its state)"
}

// initialOf returns the initial cluster that a ring came from.
func initialOf(c ring.Cluster) ring.Initial {
	initial := make(ring.Initial, 0, len(c.Members))
	for _, m := range c.Members {
		initial = append(initial, ring.InitialMember{Name: m.Name, Peer: m.Peer})
	}
	slices.SortFunc(initial, func(a, b ring.InitialMember) int { return cmp.Compare(a.Name, b.Name) })
	return initial
}

// compare finds out which of the ring's nodes are slow. They are asked for votes last; that they
// give their slots away is the nodes' business.
func (c *Coordinator) compare() {
	view := c.ring.Load()
	if view == nil {
		return
	}
	wire.Compare(len(view.nodes), func(i int) (*wire.Link, *wire.Pace, bool) {
		l := view.nodes[i]
		return l.link, &l.pace, l.up.Load()
	})
}

// state follows the link's health.
func (l *nodeLink) state(s wire.State) {
	l.down.Store(s == wire.Down || s == wire.Leaving) // before it is up: who is up is not down
	l.up.Store(s == wire.Up)
	if s == wire.Up {
		_ = l.coordinator.Loading() // which notes when all have been there
	}
	if (s == wire.Suspect || s == wire.Down) && l.id != 0 { // one that leaves answers first
		l.coordinator.lost(l.id, s == wire.Down)
	}
}

// knows reports whether the node knows who holds a slot as this proxy does, as far as this proxy has heard.
func (l *nodeLink) knows(view *ringView, slot uint16) bool {
	version := l.version.Load()
	return version >= view.table.Version() || view.table.Epoch(slot) <= version
}

// condition says how well a node can be asked for its vote; the lowest ones are asked first.
type condition int

const (
	answers condition = iota
	answersSlowly
	silent // for a moment, or longer
)

func (l *nodeLink) condition() condition {
	switch {
	case !l.up.Load():
		return silent
	case l.pace.Slow():
		return answersSlowly
	}
	return answers
}

// silent reports whether nothing has been heard of the node for twice as long as an operation may take: for so long every operation
// that it was asked for while it was heard has been waited for.
func (l *nodeLink) silent() bool {
	return l.down.Load() || !l.up.Load() && l.link.Silence() > 2*l.coordinator.cfg.OperationTimeout
}

// mayWake reports whether nothing has been heard of the node for some pings, but not for so long that it is silent.
func (l *nodeLink) mayWake() bool {
	return (!l.up.Load() || l.link.Quiet()) && !l.silent()
}

func (l *nodeLink) frame(typ wire.FrameType, body []byte, _ time.Duration) {
	switch typ {
	case protocol.FrameBatchReply:
		if err := l.coordinator.results(l.id, body); err != nil {
			l.coordinator.log.Warn("a node sent a reply that makes no sense", "peer", l.address, "err", err)
		}
	case protocol.FrameCallReply:
		l.caller.HandleReply(body, nil)
	}
}
