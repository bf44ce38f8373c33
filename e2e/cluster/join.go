//go:build unix

package cluster

import (
	"slices"
	"strings"
)

// Join adds a node to the cluster that is not started: it asks the others to join. args are more arguments for it, such as --auto-join.
func (c *Cluster) Join(name string, args ...string) *Member {
	var peers []string
	for _, m := range c.Nodes {
		peers = append(peers, m.Peer)
	}
	m := &Member{Node: name, Peer: FreeAddress(c.t), Gossip: FreeAddress(c.t), Admin: FreeAddress(c.t)}
	own := []string{"node", "--name", m.Node, "--peer", m.Peer, "--gossip", m.Gossip, "--admin", m.Admin, "--join", strings.Join(peers, ",")}
	store := c.cfg.store(c.t, []*Member{m})
	if c.cfg.Certs != "" {
		c.certify(m)
		own = append(own, "--certs-dir", c.cfg.Certs)
	}
	m.Process = NewProcess(c.t, "node "+m.Node, slices.Concat(own, store(m), args)...)
	c.arm(m)
	c.Nodes = append(c.Nodes, m)
	return m
}

// arm gives a process the binary that its cluster runs.
func (c *Cluster) arm(m *Member) {
	if c.cfg.Faults {
		m.quoll, m.Env = faultsBinary(c.t), append(m.Env, "QUOLL_SECRET="+Secret)
	}
	if c.cfg.Binary != "" {
		m.quoll = c.cfg.Binary
	}
}
