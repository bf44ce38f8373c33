package node

import (
	"context"
	"errors"
	"fmt"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/membership"
	"github.com/quolldb/quoll/ring/change"
)

// What package membership sees of a node, and what the node asks it.

// A Node can be told to form again through its admin API.
var _ admin.Reformer = (*Node)(nil)

func newMembership(n *Node) (*membership.Membership, error) {
	o := &n.opt
	return membership.New(member{n}, membership.Options{Name: o.Name, ClusterName: o.ClusterName, Initial: o.Initial, Peer: o.Peer, Clients: o.Clients, ReplicaClients: o.ReplicaClients, Replicas: o.Replicas,
		Rack: o.Rack, Weight: o.Weight, Version: o.Version, Settings: o.settings(), Identity: o.Identity, Data: o.Data, Forgotten: o.Forgotten, Reform: o.Reform, Changed: n.ringChanged, Logger: n.log})
}

// member is a node that is to be a member of a ring.
type member struct{ node *Node }

// Prepare implements membership.Node.
func (m member) Prepare(doc change.Document) (enter func(), err error) {
	v, err := m.node.viewOf(doc)
	return func() { m.node.enter(doc, v) }, err
}

// Learn implements membership.Node.
func (m member) Learn(doc change.Document) error {
	v, err := m.node.viewOf(doc)
	if err == nil {
		m.node.learn(doc, v)
	}
	return err
}

// Acquaint implements membership.Node.
func (m member) Acquaint(doc change.Document) { m.node.acquaint(doc) }

// Announce implements membership.Node.
func (m member) Announce(news protocol.RingNews, nodes bool) { m.node.announce(news, nodes) }

// Peers implements membership.Node.
func (m member) Peers() []membership.Peer {
	all := m.node.peers.All()
	peers := make([]membership.Peer, len(all))
	for i, p := range all {
		peers[i] = p
	}
	return peers
}

// State implements membership.Node.
func (m member) State() (admin.State, string) { return m.node.state() }

// Proxies implements membership.Node.
func (m member) Proxies() int { return m.node.conns.count(wire.RoleProxy) }

// Holds implements membership.Node.
func (m member) Holds() (keys, bytes uint64) {
	totals, err := m.node.engine.Totals()
	if err != nil {
		return 0, 0
	}
	return totals.Live, totals.Bytes
}

// StorageFailed implements membership.Node.
func (m member) StorageFailed(err error) { m.node.replicas.StorageFailed(err) }

// Failed implements membership.Node.
func (m member) Failed() bool { return m.node.replicas.Failed() }

// Broken implements membership.Node.
func (m member) Broken(err error) { m.node.broken(err) }

// state says whether the node votes and, if not, why.
func (n *Node) state() (admin.State, string) {
	switch {
	case n.end.Load() != nil:
		return admin.Failed, (*n.end.Load()).Error()
	case n.replicas.Failed():
		return admin.Failed, fmt.Sprintf("its store failed: %v", n.replicas.Failure())
	}
	state, reason := n.members.State()
	if why := n.comer.reason(); why != "" && state != admin.Voting {
		reason += "; it tries to come to the ring: " + why
	}
	return state, reason
}

// accept judges a peer that connects.
func (n *Node) accept(h wire.Hello) (wire.Hello, error) {
	props, err := protocol.DecodeProperties(h)
	if err == nil {
		err = n.members.Judge(h, props)
	}
	if err == nil && h.Role == wire.RoleNode {
		err = n.onlyOne(props)
	}
	if err != nil {
		return wire.Hello{}, err
	}
	if h.Role == wire.RoleNode && props.Ring.Formation != 0 && n.Document() == nil {
		n.comer.met(props.Member.Peer)
	}
	if n.replicas.Failed() && h.Properties != nil {
		h.Properties[toldOfFailure] = "true" // Open gets the same hello
	}
	return n.hello(), nil
}

// onlyOne says why a node may not connect: another process with its identity runs, and has not ended.
func (n *Node) onlyOne(theirs protocol.Properties) error {
	m := theirs.Member
	for _, p := range n.peers.All() {
		other := p.Properties()
		if !p.Up() || other == nil || other.Member == nil || other.Member.Name != m.Name || other.Member.Generation != m.Generation {
			continue
		}
		if other.Member.Peer != m.Peer || other.Process != theirs.Process {
			return fmt.Errorf("a process with the identity of node %s runs at %s already, and this one, at %s, is another: is its data directory a copy? end one of the two", m.Name, other.Member.Peer, m.Peer)
		}
	}
	return nil
}

// toldOfFailure marks the hello of a peer that was told that the store has failed.
const toldOfFailure = "told of failure"

// Reform implements admin.Reformer: it lets all nodes give up their ring, and begin again, empty.
func (n *Node) Reform(ctx context.Context, request admin.ReformRequest) (admin.ReformReport, error) {
	return n.members.Reform(ctx, request)
}

// callReform answers another node, and begins again after that, if it was told to.
func (n *Node) callReform(c *wire.ServerConn, role wire.Role, id uint64, payload []byte) {
	if role != wire.RoleNode {
		_ = c.SendFrames(protocol.AppendCallReply(nil, id, nil, errors.New("node: only nodes reform a cluster")))
		return
	}
	reply, begin, err := n.members.AnswerReform(payload)
	_ = c.SendFrames(protocol.AppendCallReply(nil, id, reply, err)) // it shows nothing of the store
	if begin != nil {
		begin()
	}
}
