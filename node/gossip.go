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
		Keys: n.gossipKeys(), Known: n.knownGossip, Meta: n.ringMeta(), Heard: n.gossiped, Logger: n.log})
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

// gossipKeys are those with which the gossip begins.
func (n *Node) gossipKeys() [][]byte {
	if len(n.opt.GossipKeys) > 0 {
		return n.opt.GossipKeys
	}
	if key := GossipKey(n.opt.Secret); key != nil {
		return [][]byte{key}
	}
	return nil
}

// SetGossipKeys changes what Options.GossipKeys has said, of which there were some.
func (n *Node) SetGossipKeys(keys [][]byte) error {
	if n.gossip == nil {
		return nil
	}
	return n.gossip.SetKeys(keys)
}

// GossipKey derives a key of gossip from the cluster's secret, nil from none.
func GossipKey(secret []byte) []byte {
	if len(secret) == 0 {
		return nil
	}
	key := sha256.Sum256(append([]byte("quoll gossip\x00"), secret...))
	return key[:]
}
