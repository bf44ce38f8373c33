package node

import (
	"cmp"
	"crypto/sha256"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/ring/gossip"
)

func (n *Node) startGossip() error {
	if n.opt.GossipListen == "" && n.opt.GossipNetwork == nil {
		return nil
	}
	g, err := gossip.Start(gossip.Config{Name: n.opt.Name, Cluster: n.opt.ClusterName, Bind: n.opt.GossipListen, Advertise: n.opt.GossipAdvertise, Network: n.opt.GossipNetwork,
		SecretKey: gossipKey(n.opt.Secret), Known: n.knownGossip, Meta: n.ringMeta(), Heard: n.gossiped, Logger: n.log})
	if err != nil {
		return err
	}
	n.gossip = g
	n.members.SetGossip(cmp.Or(n.opt.GossipAdvertise, g.Addr()))
	return nil
}

// ringMeta is what gossip says of this node: which ring it knows.
func (n *Node) ringMeta() []byte {
	if news := n.members.News(); news.Formation != 0 {
		return protocol.AppendRingNews(nil, news)
	}
	return nil
}

// knownGossip returns where the other members gossip, as they said themselves.
func (n *Node) knownGossip() []string {
	var known []string
	for _, p := range n.peers.All() {
		if h := p.Properties(); h != nil && h.Member != nil && h.Member.Gossip != "" {
			known = append(known, h.Member.Gossip)
		}
	}
	return known
}

// gossipKey derives the key that encrypts gossip from the cluster's secret.
func gossipKey(secret []byte) []byte {
	if len(secret) == 0 {
		return nil
	}
	key := sha256.Sum256(append([]byte("quoll gossip\x00"), secret...))
	return key[:]
}
