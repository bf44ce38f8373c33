package node

import (
	"time"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/peer"
	"github.com/quolldb/quoll/node/replica"
	"github.com/quolldb/quoll/ring/change"
)

// How a node works by a version of the ring, and by the next one. Package membership decides which, one after the other.

// Document is the newest version of the ring that this node works by, or has heard of if it is no member; nil before there is one. Nobody changes it.
func (n *Node) Document() *change.Document { return n.members.Document() }

// ringChanged is told of each version that the node has taken up. It must not block.
func (n *Node) ringChanged(doc change.Document) {
	for _, told := range n.watchers {
		told(doc)
	}
}

// viewOf returns what a document says to this node.
func (n *Node) viewOf(doc change.Document) (*replica.View, error) {
	self := n.self()
	life, _ := protocol.Life(doc, &self)
	return replica.NewView(doc, life.ID)
}

// enter lets the node vote in a ring.
func (n *Node) enter(doc change.Document, v *replica.View) {
	n.entering.Lock()
	defer n.entering.Unlock()
	n.addPeers(doc)
	n.openHints(doc)
	n.limit(&doc)
	n.replicas.Enter(v)
	n.judgePeers(doc)
	n.dropPeers(doc)
}

// learn has the node work by a later version of the ring that it votes in.
func (n *Node) learn(doc change.Document, v *replica.View) {
	n.entering.Lock()
	n.addPeers(doc)
	n.openHints(doc)
	n.entering.Unlock()
	n.replicas.Learn(v) // which waits for slots in turn
	n.entering.Lock()
	defer n.entering.Unlock()
	n.limit(&doc)
	n.judgePeers(doc)
	n.dropPeers(doc)
}

// limit has the data take as much as a document says. Who was short of memory by the limits before, this node or a peer, may have room by these.
func (n *Node) limit(doc *change.Document) {
	if n.limits == nil || !n.limits.follow(doc) {
		return
	}
	n.replicas.Space.LimitChanged()
	for _, p := range n.peers.All() {
		p.ForgetCrowded()
	}
}

// acquaint links a node that does not vote in a ring with its members.
func (n *Node) acquaint(doc change.Document) {
	n.entering.Lock()
	defer n.entering.Unlock()
	n.addPeers(doc)
	n.dropPeers(doc)
}

// addPeers adds whoever a document has that is no peer yet, or is at another address. n.entering is locked.
func (n *Node) addPeers(doc change.Document) {
	self := n.self()
	for _, l := range doc.Members {
		if l.Name == self.Name && l.Generation == self.Generation {
			continue
		}
		former := l.State == change.Lost || l.Name == self.Name
		old := n.peers.Of(l.ID)
		if old != nil && old.Is(l.Member, former) {
			continue
		}
		p := n.newPeer(l.Member, former)
		n.peers.Add(p)
		if n.linking != nil {
			p.Start(n.linking)
		}
		if old != nil {
			n.part(old)
		}
	}
}

// judgePeers finds out anew which processes at the other ends are members, and in the rack of this node. n.entering is locked.
func (n *Node) judgePeers(doc change.Document) {
	self := n.self()
	own, _ := protocol.Life(doc, &self)
	for _, p := range n.peers.All() {
		p.SetMember(n.inRing(p.ID(), p.Properties()))
		m, _ := doc.Member(p.ID())
		p.SetNear(own.Rack != "" && m.Rack == own.Rack)
	}
}

// dropPeers removes whoever a document does not have any more, when no slot names them. n.entering is locked.
func (n *Node) dropPeers(doc change.Document) {
	for _, p := range n.peers.Keep(func(id uint16) bool { _, has := doc.Member(id); return has }) {
		n.part(p)
	}
}

// part closes the link to who is no peer any more, when what is under way there has been answered.
func (n *Node) part(p *peer.Peer) {
	if n.linking == nil {
		return // it has not begun to dial
	}
	n.wait.Go(func() { // called by what n.wait waits for
		timer := time.NewTimer(2 * n.opt.OperationTimeout)
		defer timer.Stop()
		select {
		case <-timer.C:
		case <-n.linking.Done():
		}
		p.Close()
	})
}

// inRing reports whether the process at the other end is a member of the ring, in the life that has its state, and its store has not failed.
func (n *Node) inRing(id uint16, h *protocol.Properties) bool {
	v := n.replicas.View()
	return v != nil && h != nil && v.Life(h.Member) == id && !h.Failed
}

// announce tells proxies, gossip and, if it says so, nodes which ring this node knows.
func (n *Node) announce(news protocol.RingNews, nodes bool) {
	frame := protocol.RingFrame(news)
	n.conns.tell(wire.RoleProxy, frame)
	if nodes {
		n.conns.tell(wire.RoleNode, frame)
	}
	if n.gossip != nil {
		n.gossip.SetMeta(protocol.AppendRingNews(nil, news))
	}
}

// gossiped hears of the ring that another member knows.
func (n *Node) gossiped(member string, meta []byte) {
	if news, err := protocol.DecodeRingNews(meta); err == nil && member != n.opt.Name {
		n.members.Hear(member, news)
	}
}

// later implements replica.Node: a member, or a proxy, knows a later version of the ring.
func (n *Node) later(member uint16, version uint64) {
	name := ""
	if p := n.peers.Of(member); p != nil {
		name = p.Name()
	}
	n.members.Later(name, version)
}
