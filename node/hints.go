package node

import (
	"github.com/quolldb/quoll/node/hint"
	"github.com/quolldb/quoll/node/replica"
)

// Hints: while a peer is away this node notes which keys it misses of the slots that are led here
// (register.Missed). When the peer is back package repair has them written again.

// openHints opens what was noted of the other members of the ring. n.entering is locked, and
// no slot has been opened yet.
func (n *Node) openHints(v *replica.View) {
	if n.opt.RepairInterval < 0 || n.opt.HintLimit < 0 { // without comparisons they would never be used
		return
	}
	sets := make([]*hint.Set, len(n.peers.All())+2) // IDs begin at 1, and one is this node's
	for _, p := range n.peers.All() {
		if m, ok := v.Cluster.ByName(p.Name()); ok {
			sets[p.ID()] = hint.Open(hint.Options{Replica: p.Name(), Generation: m.Generation, Dir: n.opt.HintDir,
				Limit: n.opt.HintLimit, Logger: n.log.With("peer", p.Name())})
		}
	}
	n.hints = sets
}

// closeHints ends their files. What is noted later is not kept.
func (n *Node) closeHints() {
	n.entering.Lock()
	defer n.entering.Unlock()
	for _, set := range n.hints {
		if set == nil {
			continue
		}
		if err := set.Close(); err != nil {
			n.log.Warn("hints were not closed in order; comparing the replicas finds what they miss", "err", err)
		}
	}
}

// hintsOf returns what a member missed, nil if nothing is noted of it.
func (n *Node) hintsOf(member uint16) *hint.Set {
	if int(member) >= len(n.hints) {
		return nil
	}
	return n.hints[member]
}

// Hints returns how much is noted of what the other nodes missed, by their names. A node that
// is not part of a ring yet, or does not compare its replicas, notes nothing.
func (n *Node) Hints() map[string]hint.Counts {
	counts := map[string]hint.Counts{}
	if n.replicas.View() == nil {
		return counts
	}
	for _, p := range n.peers.All() {
		if set := n.hintsOf(p.ID()); set != nil {
			counts[p.Name()] = set.Counts()
		}
	}
	return counts
}
