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
	p := protocol.Properties{Initial: m.opt.Initial.String(), Member: m.self.Load(), Replicas: m.opt.Replicas, Ring: m.News(),
		Voting: state == admin.Voting, Failed: state == admin.Failed, State: reason, Clients: m.opt.Clients, ReplicaClients: m.opt.ReplicaClients, Version: m.opt.Version, Restored: m.restored(),
		Proxies: m.node.Proxies(), After: m.opt.Forgotten.Epoch, Settings: &m.opt.Settings, Process: m.start}
	if m.changed() {
		p.Initial, p.Replicas = "", 0 // it is not what formed any more
	}
	return p.Encode(wire.Hello{Role: wire.RoleNode, Name: m.opt.Name, Cluster: m.opt.ClusterName})
}

// changed reports whether the ring is known, and not any more what formed of the initial cluster.
func (m *Membership) changed() bool {
	doc := m.Document()
	return doc != nil && !doc.Untouched()
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
	if err := m.compareSettings(props); err != nil {
		return err
	}
	m.warnOfFormer(props)
	known, ok := m.initial().ByName(h.Name)
	if len(m.opt.Initial) == 0 || m.changed() || m.isNews(props.Ring) { // it may be a member that is not in the initial cluster, or is one by another number
		m.Hear(h.Name, props.Ring)
		return nil
	}
	switch joins := props.Member.ID == 0; {
	case !ok && !joins:
		return fmt.Errorf("node %s is not in the initial cluster %s", h.Name, m.opt.Initial)
	case !ok && !m.decided():
		return fmt.Errorf("node %s wants to join, and node %s is part of no ring yet", h.Name, m.opt.Name)
	case ok && !joins && known.ID != props.Member.ID:
		return fmt.Errorf("node %s has another number here", h.Name)
	}
	return nil
}

// sameCluster compares what must be the same everywhere.
func (m *Membership) sameCluster(h wire.Hello, props protocol.Properties) error {
	if h.Cluster != m.opt.ClusterName {
		return fmt.Errorf("%w: this is cluster %q, not %q: correct --cluster-name", errDiffer, m.opt.ClusterName, h.Cluster)
	}
	if props.Initial != "" && len(m.opt.Initial) > 0 && !m.changed() {
		theirs, err := ring.ParseInitial(props.Initial)
		if err != nil {
			return err
		}
		if diff := ring.Diff(m.opt.Initial, theirs); diff != "" {
			return fmt.Errorf("%w: --initial-cluster of %s (here) and of %s (there) differ: %s", errDiffer, m.opt.Name, h.Name, diff)
		}
	}
	if h.Role == wire.RoleNode && props.Restored != m.restored() && props.Ring.Formation == 0 && !m.decided() {
		return fmt.Errorf("%w: the data of %s and of %s did not begin with the same backups: restore the same ones on every node", errDiffer, m.opt.Name, h.Name)
	}
	if h.Role == wire.RoleNode {
		return m.compareReplicas(h, props)
	}
	return nil
}
