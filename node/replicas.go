package node

import (
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/node/replica"
)

// What package replica sees of a node.

func newReplicas(n *Node) *replica.Host {
	return replica.New(replicaNode{n}, replica.Options{Engine: n.engine, Peers: &n.peers, Timing: n.opt.timing(), MaxValue: n.opt.MaxValue, MaxCollection: n.opt.MaxCollection,
		Now: n.now, Mono: n.mono, Random: n.opt.Random, Metrics: &n.Metrics, Logger: n.log, Watched: &n.watched, Events: n.broker})
}

// replicaNode is a node that holds replicas.
type replicaNode struct{ node *Node }

// StorageFailed implements replica.Node: whoever is connected connects again, and is told.
func (r replicaNode) StorageFailed(err error) {
	r.node.log.Error("the store failed; this node does not vote any more", "err", err)
	r.node.conns.closeAll()
}

// Damaged implements replica.Node.
func (r replicaNode) Damaged(slot uint16, err error) { r.node.rebuilds.Add(slot, err) }

// Rebuilding implements replica.Node.
func (r replicaNode) Rebuilding(slot uint16) bool { return r.node.rebuilds.Begun(slot) }

// StandIn implements replica.Node.
func (r replicaNode) StandIn(slot, except uint16) uint16 { return r.node.standIn(slot, except) }

// Missed implements replica.Node.
func (r replicaNode) Missed(missed []register.Missed) {
	for i := range missed {
		m := &missed[i]
		if set := r.node.hintsOf(m.Member); set == nil {
			continue
		} else if m.Key == nil {
			set.Mark(m.Slot)
		} else {
			set.Add(m.Slot, m.Key)
		}
	}
}

// Later implements replica.Node.
func (r replicaNode) Later(member uint16, version uint64) { r.node.later(member, version) }
