package route

import (
	"errors"
	"fmt"
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
	name        string // of the member that the node must be, in the life of this generation,
	generation  uint64
	own         bool        // it is in this process
	near        atomic.Bool // it is in the rack of this proxy
	formation   uint64      // and of the ring that it must be part of; 0 for a seed
	link        *wire.Link
	caller      *protocol.Caller
	version     atomic.Uint64           // of the ring, that the node knows at least
	serves      atomic.Pointer[serving] // where it serves clients, nil for nowhere
	elsewhere   atomic.Bool             // it was refused: it is part of another ring
	up          atomic.Bool
	down        atomic.Bool // nothing can be sent
	pace        wire.Pace
}

var errNotVoting = errors.New("proxy: the node does not vote")

// newLink starts a link to a member of a ring, which knows such a version of it at least; or to a seed, of no ring.
func (c *Coordinator) newLink(m ring.Member, formation, version uint64) *nodeLink {
	l := c.closedLink(m, formation)
	l.version.Store(version)
	l.link.Start(c.ctx)
	return l
}

// closedLink returns a link that does nothing yet.
func (c *Coordinator) closedLink(m ring.Member, formation uint64) *nodeLink {
	l := &nodeLink{coordinator: c, id: m.ID, address: m.Peer, name: m.Name, generation: m.Generation, formation: formation}
	l.own = l.address != "" && l.address == c.cfg.Own
	l.isIn(m.Rack)
	l.down.Store(true)
	l.link = wire.NewLink(wire.LinkConfig{
		Options: wire.Options{Secret: c.cfg.Secret, TLS: c.cfg.TLS, Logger: c.log, Random: c.cfg.Random, Sent: func(bytes int) { l.traffic().sent.Add(uint64(bytes)) }},
		Address: l.address,
		Dial:    c.cfg.Dial,
		Hello:   c.hello,
		Check:   l.check,
		OnUp: func(uint64, wire.Hello) {
			c.interests.up(l)
			c.watches.up(l)
		},
		OnFrame: l.frame,
		OnDown:  l.ended,
		OnState: l.state,
		OnPong: func() {
			c.compare()
			c.interests.tellAgain(l)
		},

		SuspectAfter: c.cfg.suspectAfter,
	})
	l.caller = protocol.NewCaller(l.link)
	return l
}

func (c *Coordinator) hello() wire.Hello {
	return protocol.Properties{Initial: c.cfg.Initial, Version: c.cfg.Version, Pieces: true}.Encode(
		wire.Hello{Role: wire.RoleProxy, Name: c.cfg.Name, Cluster: c.cfg.ClusterName})
}

// check judges what a node says of itself: it must be the member that it was taken for, in the ring that this
// proxy works with. Every node tells which ring it knows, and of which version.
func (l *nodeLink) check(h wire.Hello) error {
	props, err := protocol.DecodeProperties(h)
	if err != nil {
		return err
	}
	if h.Cluster != l.coordinator.cfg.ClusterName {
		return fmt.Errorf("node %s belongs to cluster %q, not to %q: correct --cluster-name", h.Name, h.Cluster, l.coordinator.cfg.ClusterName)
	}
	if l.formation == 0 && props.Ring.Formation != 0 { // whoever knows a ring can tell of it
		l.coordinator.hear(l, props.Ring)
		return nil
	}
	if !props.Voting || props.Ring.Formation == 0 {
		return fmt.Errorf("%w: %s: %s", errNotVoting, h.Name, props.State)
	}
	if props.Ring.Formation != l.formation {
		l.elsewhere.Store(true)
		return fmt.Errorf("node %s is part of another ring than this proxy knows: the cluster was restarted without its state, or formed anew", h.Name)
	}
	if m := props.Member; m == nil || m.Name != l.name || m.Generation != l.generation {
		return fmt.Errorf("what answers at %s is not member %s, or not in the life that the ring knows: this proxy waits for a later version of the ring", l.address, l.name)
	}
	l.elsewhere.Store(false)
	l.version.Store(props.Ring.Version)
	var at *serving
	if props.Clients != "" {
		at = &serving{props.Clients, props.ReplicaClients}
	}
	l.serves.Store(at)
	l.coordinator.hear(l, props.Ring)
	return nil
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
	l.coordinator.place()
	if s == wire.Up || s == wire.Suspect {
		l.coordinator.watches.suspected(l)
	}
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

// ended is called when a connection has ended.
func (l *nodeLink) ended(_ uint64, err error) {
	l.coordinator.interests.down(l)
	l.caller.Down(err)
	l.coordinator.watches.down(l)
}

func (l *nodeLink) frame(typ wire.FrameType, body []byte, _ time.Duration) {
	l.traffic().received.Add(uint64(len(body)))
	switch typ {
	case protocol.FrameBatchReply:
		if err := l.coordinator.results(l.id, body); err != nil {
			l.coordinator.log.Warn("a node sent a reply that makes no sense", "peer", l.address, "err", err)
		}
	case protocol.FrameReplyPiece:
		if err := l.coordinator.piece(l.id, body); err != nil {
			l.coordinator.log.Warn("a node sent a piece of a reply that makes no sense", "peer", l.address, "err", err)
		}
	case protocol.FrameCallReply:
		l.caller.HandleReply(body, nil)
	case protocol.FrameWatched, protocol.FrameChanged, protocol.FramePrefixChanged:
		if err := l.watches(typ, body); err != nil {
			l.coordinator.log.Warn("a node told something of keys that makes no sense", "peer", l.address, "err", err)
		}
	case protocol.FrameInterestDone:
		c := l.coordinator
		if err := c.interests.answered(l, body); err != nil {
			c.log.Warn("a node sent an answer that makes no sense", "peer", l.address, "err", err)
		}
	case protocol.FrameMessages:
		if err := l.coordinator.interests.hear(body); err != nil {
			l.coordinator.log.Warn("a node sent messages that make no sense", "peer", l.address, "err", err)
		}
	case protocol.FrameRing:
		if news, err := protocol.DecodeRingNews(body); err == nil && news.Formation == l.formation {
			l.version.Store(max(l.version.Load(), news.Version))
			l.coordinator.hear(l, news)
		}
	}
}

// watches takes what the node says of keys that it watches for this proxy.
func (l *nodeLink) watches(typ wire.FrameType, body []byte) error {
	switch typ {
	case protocol.FrameWatched:
		ids, err := protocol.DecodeWatched(body)
		l.coordinator.watches.watched(l, ids)
		return err
	case protocol.FramePrefixChanged:
		changes, err := protocol.DecodePrefixChanges(body)
		l.coordinator.watches.prefixChanges(l, changes)
		return err
	}
	changes, err := protocol.DecodeKeyChanges(body)
	l.coordinator.watches.changes(l, changes)
	return err
}
