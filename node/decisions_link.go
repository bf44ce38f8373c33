package node

import (
	"bytes"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/consensus"
	"github.com/quolldb/quoll/node/peer"
)

// What the nodes' parts in deciding changes of the ring say to each other, over the links of peers.

// maxDecisionsQueued is how many bytes may wait for a peer while more is sent to it. The group sends again what is lost.
const maxDecisionsQueued = 32 << 20

// Send implements consensus.Transport.
func (d *decisions) Send(to uint64, message []byte) {
	p := d.peer(to)
	if p == nil || p.Queued() > maxDecisionsQueued {
		return
	}
	p.Send(wire.EndFrame(append(wire.BeginFrame(nil, protocol.FrameConsensus), message...), 0))
}

// peer returns the one that is such a life of a node, nil if none is connected.
func (d *decisions) peer(generation uint64) *peer.Peer {
	for _, p := range d.node.peers.All() {
		if props := p.Properties(); props != nil && props.Member != nil && props.Member.Generation == generation && p.Up() {
			return p
		}
	}
	return nil
}

// receive takes a message of another node, if it is of the one that sent it. body is borrowed.
func (d *decisions) receive(s *session, body []byte) {
	member, g := s.member(), d.group.Load()
	if g == nil || member == nil || consensus.Sender(body) != member.Generation {
		return
	}
	if of := s.hello.Ring.Formation; of != 0 && of != d.node.members.News().Formation {
		return
	}
	g.Receive(bytes.Clone(body))
}

// hear notes who another node says decides.
func (d *decisions) hear(v protocol.Voters) {
	if g := d.group.Load(); g != nil {
		g.Hear(consensus.Voters(v))
	}
}

// hello is what this node says of itself.
func (n *Node) hello() wire.Hello {
	h := n.members.Hello()
	if g := n.decisions.group.Load(); g != nil {
		if v := g.Voters(); len(v.IDs) > 0 {
			h.Properties[protocol.PropertyVoters] = protocol.Voters(v).String()
		}
	}
	return h
}
