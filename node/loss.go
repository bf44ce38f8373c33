package node

import (
	"slices"

	"github.com/quolldb/quoll/node/peer"
)

// LastCopies counts the slots that have no majority any more once this node is gone, for good: its data is in memory only, and
// too few of the slots' other replicas vote. A node that is about to end counts as gone: together says that there is one, or one that has ended in order
// and is not back, as when the whole cluster is being stopped. It is 0 for a node on disk, and for one that has nothing to lose.
//
// Whoever stops a node asks before, and says so. It is no reason not to stop: Docker, systemd and Kubernetes send SIGKILL some seconds
// after a SIGTERM that is not obeyed, and what is in flight is then lost as well. `ring status` says it beforehand.
func (n *Node) LastCopies() (slots int, together bool) {
	v := n.replicas.View()
	if v == nil || n.opt.Identity != nil {
		return 0, false
	}
	for number := range v.Slots() {
		if v.Table.Spare(number, func(id uint16) bool {
			p := n.peers.Of(id)
			return p != nil && p.Alive() && !p.Leaving()
		}) < 0 {
			slots++
		}
	}
	return slots, slices.ContainsFunc(n.peers.All(), (*peer.Peer).Leaving)
}
