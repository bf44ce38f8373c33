package node

import (
	"maps"

	"github.com/quolldb/quoll/node/hint"
	"github.com/quolldb/quoll/ring/change"
)

// Hints: while a peer is away this node notes which keys it misses of the slots that are led here
// (register.Missed). When the peer is back package repair has them written again.

// noted is what was noted of a life of a member.
type noted struct {
	*hint.Set
	name       string
	generation uint64
}

// openHints opens what was noted of those members that are new in a document, and closes what was noted of those that it does not have any more. n.entering is locked,
// and no slot that names a new one has been opened yet.
func (n *Node) openHints(doc change.Document) {
	if n.opt.RepairInterval < 0 || n.opt.HintLimit < 0 { // without comparisons they would never be used
		return
	}
	before, now := n.allHints(), map[uint16]noted{}
	for _, l := range doc.Members {
		if h, known := before[l.ID]; known && l.State != change.Lost && h.name == l.Name && h.generation == l.Generation {
			now[l.ID] = h
		}
	}
	n.hints.Store(&now)
	for id, h := range before { // first: a member's next life has the same file
		if _, stays := now[id]; !stays {
			n.closeHint(h)
		}
	}
	now = maps.Clone(now)
	for _, l := range doc.Members {
		if _, known := now[l.ID]; !known && l.State != change.Lost && l.Name != n.opt.Name {
			now[l.ID] = noted{hint.Open(hint.Options{Replica: l.Name, Generation: l.Generation, Dir: n.opt.HintDir,
				Limit: n.opt.HintLimit, Logger: n.log.With("peer", l.Name)}), l.Name, l.Generation}
		}
	}
	n.hints.Store(&now)
}

// allHints returns what is noted, by member ID. Nobody changes the map.
func (n *Node) allHints() map[uint16]noted {
	if hints := n.hints.Load(); hints != nil {
		return *hints
	}
	return nil
}

// closeHints ends their files. What is noted later is not kept.
func (n *Node) closeHints() {
	n.entering.Lock()
	defer n.entering.Unlock()
	for _, h := range n.allHints() {
		n.closeHint(h)
	}
}

func (n *Node) closeHint(h noted) {
	if err := h.Close(); err != nil {
		n.log.Warn("hints were not closed in order; comparing the replicas finds what they miss", "peer", h.name, "err", err)
	}
}

// hintsOf returns what a member missed, nil if nothing is noted of it.
func (n *Node) hintsOf(member uint16) *hint.Set { return n.allHints()[member].Set }

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
