package node

import (
	"time"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/exec"
	"github.com/quolldb/quoll/node/hint"
	"github.com/quolldb/quoll/node/peer"
	"github.com/quolldb/quoll/node/replicate"
	"github.com/quolldb/quoll/ring"
)

// link is a peer as the node sees it: it gets what comes on its link.
type link struct {
	*peer.Peer
	node    *Node
	replies *replicate.Replies
}

func (n *Node) newPeer(m ring.Member) *peer.Peer {
	l := &link{node: n, replies: n.replicate.Replies(m.ID, m.Name)}
	l.Peer = peer.New(peer.Config{Member: m, Options: n.wireOptions(), Dial: n.opt.Dial, Hello: n.members.Hello, Judge: n.members.Judge,
		StableAfter: n.opt.stableAfter, Pong: n.peers.Compare, Mono: n.mono, Metrics: &n.Metrics, Handler: l})
	return l.Peer
}

func (n *Node) wireOptions() wire.Options {
	return wire.Options{Secret: n.opt.Secret, Logger: n.log, MaxPending: exec.MaxQueued, Random: n.opt.Random, Sent: func(bytes int) { n.Metrics.BytesOut.Add(uint64(bytes)) }}
}

// Met implements peer.Handler.
func (l *link) Met(props *protocol.Properties) {
	l.node.entering.Lock() // the cluster may be forming at this moment
	defer l.node.entering.Unlock()
	l.Meet(props, l.node.inRing(props))
}

// inRing reports whether the process at the other end is the member that the ring
// names, the one that still has its state, and its store has not failed: then it knows the
// ring, and yet does not vote.
func (n *Node) inRing(h *protocol.Properties) bool {
	v := n.replicas.View()
	return v != nil && h != nil && v.SameLife(h.Member) && (h.Voting || h.Cluster == nil)
}

// Changed implements peer.Handler.
func (l *link) Changed(s wire.State) {
	if s == wire.Up {
		l.node.tellLeading(l.Peer)
		l.node.repairs.Soon()
		l.node.rebuilds.Soon()
		l.node.collects.Soon()
	}
	l.node.log.Debug("peer link", "peer", l.Name(), "state", s.String())
}

// Frame implements peer.Handler.
func (l *link) Frame(typ wire.FrameType, body []byte, _ time.Duration) {
	switch typ {
	case protocol.FrameReplicateReply:
		if l.Member() {
			l.replies.Frame(body)
		}
	case protocol.FramePiece:
		if !l.Member() {
			return
		}
		if err := l.replies.Piece(body); err != nil {
			l.node.log.Warn("a peer sent a piece of an object that makes no sense", "peer", l.Name(), "err", err)
		}
	case protocol.FrameObjectsReply:
		l.Answered(body, l.replies.Object)
	}
}

// Idle implements peer.Handler.
func (l *link) Idle() { l.replies.Flush() }

// Down implements peer.Handler.
func (l *link) Down() { l.replies.Drop() }

// hintedPeer is a peer as the rooms see it that write again what it missed.
type hintedPeer struct {
	*peer.Peer
	node *Node
}

// Hints implements repair.Peer. They are there as soon as the node votes.
func (p hintedPeer) Hints() *hint.Set {
	if p.node.replicas.View() == nil {
		return nil
	}
	return p.node.hintsOf(p.ID())
}
