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

// newPeer returns another node, or, former, a life of one that is over.
func (n *Node) newPeer(m ring.Member, former bool) *peer.Peer {
	l := &link{node: n, replies: n.replicate.Replies(m.ID, m.Name)}
	l.Peer = peer.New(peer.Config{Member: m, Former: former, Options: n.wireOptions(), Dial: n.opt.Dial, Hello: n.hello, Judge: n.members.Judge,
		StableAfter: n.opt.stableAfter, Pong: n.peers.Compare, Mono: n.mono, Metrics: &n.Metrics, Handler: l})
	return l.Peer
}

func (n *Node) wireOptions() wire.Options {
	return wire.Options{Secret: n.opt.Secret, TLS: n.opt.TLS, Logger: n.log, MaxPending: exec.MaxQueued, Random: n.opt.Random, Sent: func(bytes int) { n.Metrics.BytesOut.Add(uint64(bytes)) }}
}

// Met implements peer.Handler.
func (l *link) Met(props *protocol.Properties) {
	l.node.entering.Lock() // the cluster may be forming at this moment
	defer l.node.entering.Unlock()
	l.Meet(props, l.node.inRing(l.ID(), props))
	l.node.decisions.hear(props.Voters)
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
	case protocol.FrameRing:
		if news, err := protocol.DecodeRingNews(body); err == nil {
			l.node.members.Hear(l.Name(), news)
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
