package membership

import (
	"fmt"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/ring"
)

// Hello is what this node says of itself.
func (m *Membership) Hello() wire.Hello {
	state, reason := m.node.State()
	p := protocol.Properties{Initial: m.opt.Initial.String(), Member: &m.self, Replicas: m.opt.Replicas,
		Voting: state == admin.Voting, State: reason, Version: m.opt.Version, Restored: m.restored(),
		Proxies: m.node.Proxies(), After: m.opt.Forgotten.Epoch}
	if cluster := m.ring.Load(); cluster != nil {
		p.Cluster = cluster
	} else if lost := m.lost.Load(); lost != nil {
		p.Cluster = &lost.cluster
	}
	return p.Encode(wire.Hello{Role: wire.RoleNode, Name: m.opt.Name, Cluster: m.opt.ClusterName})
}

// Judge says whether another process may connect with this node, as far as it is the same cluster's, and learns from a node whether the
// cluster has formed.
func (m *Membership) Judge(h wire.Hello, props protocol.Properties) error {
	if err := m.sameCluster(h, props); err != nil {
		return err
	}
	if h.Role == wire.RoleNode {
		return m.acquaint(h, props)
	}
	return nil
}

// acquaint judges what another node says of itself, and learns from it whether the
// cluster has formed.
func (m *Membership) acquaint(h wire.Hello, props protocol.Properties) error {
	if props.Member == nil {
		return fmt.Errorf("node %s does not say who it is", h.Name)
	}
	if props.Member.Name != h.Name {
		return fmt.Errorf("node %s says that it is node %s", h.Name, props.Member.Name)
	}
	known, ok := m.initial().ByName(h.Name)
	if !ok {
		return fmt.Errorf("node %s is not in the initial cluster %s", h.Name, m.opt.Initial)
	}
	if known.ID != props.Member.ID {
		return fmt.Errorf("node %s has another number here", h.Name)
	}
	return m.meet(props)
}

// sameCluster compares what must be the same everywhere.
func (m *Membership) sameCluster(h wire.Hello, props protocol.Properties) error {
	if h.Cluster != m.opt.ClusterName {
		return fmt.Errorf("%w: this is cluster %q, not %q: correct --cluster-name", errDiffer, m.opt.ClusterName, h.Cluster)
	}
	if props.Initial != "" {
		theirs, err := ring.ParseInitial(props.Initial)
		if err != nil {
			return err
		}
		if diff := ring.Diff(m.opt.Initial, theirs); diff != "" {
			return fmt.Errorf("%w: --initial-cluster of %s (here) and of %s (there) differ: %s", errDiffer, m.opt.Name, h.Name, diff)
		}
	}
	if h.Role == wire.RoleNode && props.Restored != m.restored() && props.Cluster == nil && m.ring.Load() == nil {
		return fmt.Errorf("%w: the data of %s and of %s did not begin with the same backups: restore the same ones on every node", errDiffer, m.opt.Name, h.Name)
	}
	if h.Role == wire.RoleNode {
		return m.compareReplicas(h, props)
	}
	return nil
}

// meet learns from another node whether the cluster has formed.
func (m *Membership) meet(props protocol.Properties) error {
	if props.Cluster == nil || m.decided() {
		return nil // whatever generation it has: what has lost its state votes in no ring that knows it
	}
	if m.opt.Forgotten.has(props.Cluster.Digest()) {
		return nil // that node has not given it up yet
	}
	me, ok := props.Cluster.ByName(m.opt.Name)
	if !ok {
		return fmt.Errorf("the ring of %s has no node %s", props.Member.Name, m.opt.Name)
	}
	if me.Generation == m.self.Generation {
		return m.form(*props.Cluster) // the commit was lost on its way to this node
	}
	m.loseState(*props.Cluster, m.lostHow())
	return nil
}
