package node

import (
	"time"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/register"
)

// Operations in the background are those that no client asked for: the node gives them to its homes, which execute
// them by the rules of all others.
const (
	// opExpire deletes a key that is not there, or has expired, and leaves a live one alone. To
	// delete what is not there brings replicas up to date that missed the deletion; they would find
	// the key for ever.
	opExpire command.Op = 1<<15 + iota
	// opRepair writes what is there once more, be it a deletion: all replicas hold it then.
	opRepair
)

// executeExpire runs opExpire.
func executeExpire(st record.State) record.Effect {
	if st.Live() {
		return record.Effect{}
	}
	return record.Effect{Kind: record.Replaced}
}

// background gives one to the home of a slot. It calls answered once, maybe before it returns: whether the operation
// was executed, as far as is known. The stripe is locked.
func (s *stripe) background(number uint16, op command.Op, key []byte, answered func(done bool)) {
	n := s.node
	sl, err := s.slot(number)
	if err != nil || n.quorum(sl, false, false) != register.ReasonNone {
		answered(false)
		return
	}
	r := register.NewRequest(&command.Request{Op: op, Args: [][]byte{nil, key}}, answered, 0, s.out.in.Mono)
	except := uint16(0)
	if leader := n.peerOf(sl.home.Leader(s.out.in.Mono)); sl.leads() || n.reclaims(sl) { // it is no reason to hand the slot back
		except = register.AllOthers
	} else if leader != nil && leader.gone(n.mono()) {
		except = leader.id
	}
	s.give(number, sl, r, except)
}

// reclaims reports whether a slot is this node's to lead and whoever led it meanwhile has had the
// time to hand it back. Nobody tells this node when that happens, but for clients that it sends: without
// any, operations in the background would be turned away for ever, to a node that does not lead the slot any more.
func (n *Node) reclaims(sl *slot) bool {
	members := sl.home.Config().Members()
	if n.peerOf(members[0]) != nil {
		return false
	}
	for _, id := range members[1:] {
		if p := n.peerOf(id); p != nil && p.alive() && n.mono()-p.upSince.Load() <= (stableAfter+time.Second).Milliseconds() {
			return false
		}
	}
	return true
}

// responsible reports whether this node is the one to do what a slot needs in the background: it leads the slot,
// or is the first replica that is alive. The stripe is locked.
func (s *stripe) responsible(v *view, number uint16) bool {
	return s.readable(number) == nil && (s.leading(number) || s.node.firstAlive(v.table.Replicas(number)))
}

// firstAlive reports whether this node is the first of some replicas that is alive.
func (n *Node) firstAlive(replicas []uint16) bool {
	for _, id := range replicas {
		if p := n.peerOf(id); p == nil || p.alive() {
			return p == nil
		}
	}
	return false
}
