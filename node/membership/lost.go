package membership

import "fmt"

// superseded is why a node does not vote in the ring that it knows: that names a former life of it, or none.
type superseded struct{ reason, advice string }

// loseState notes that the ring knows a former life of this node.
func (m *Membership) loseState(reason string) {
	lost := &superseded{reason + "; it does not vote, for it has forgotten what it promised", m.wayOut()}
	if m.lost.CompareAndSwap(nil, lost) {
		m.log.Error("this node has lost its state and does not vote: it has forgotten what it promised, and its vote could lose acknowledged writes", "reason", reason, "what to do", lost.advice)
	}
}

// stayOut notes that the ring does not know this node.
func (m *Membership) stayOut() {
	out := &superseded{fmt.Sprintf("the ring has no node %s: it has left, or has never been a member", m.opt.Name), "it votes when it has joined: start it with --join, or stop it"}
	if m.lost.CompareAndSwap(nil, out) {
		m.log.Warn("this node is no member of the ring", "what to do", out.advice)
	}
}

// lostHow says why this node has none of the state that the ring of others knows.
func (m *Membership) lostHow() string {
	if m.opt.Identity == nil {
		return "restarted without its state, which was in memory"
	}
	return fmt.Sprintf("restarted without its state: its data directory %s was empty, or was never part of this cluster", m.opt.Data)
}

// wayOut is one that works, of a node that has lost its state.
func (m *Membership) wayOut() string {
	switch id := m.opt.Identity; {
	case id == nil:
		return "if the others are no majority, let all nodes form an empty cluster: quoll ring reform"
	case id.Ring() == nil:
		return fmt.Sprintf("if its data is elsewhere (is the volume mounted?), stop this node and start it with it at %s; "+
			"if it is gone, restore a backup of another node on every node: quoll node backup, quoll node restore", m.opt.Data)
	}
	return "restore a backup of another node on every node, into new directories: quoll node backup, quoll node restore; what is in " + m.opt.Data + " may be too old"
}
