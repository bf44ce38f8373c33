package node

import (
	"time"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
)

// A node that answers, but slowly, because of its disk, its processor or its network, would make all
// that it leads slow, while the others could do it among themselves. It cannot tell by itself: all others may
// be far away. So each node compares the round trips to its peers, and tells one that takes much
// longer than another. A node that hears that from a majority of the others gives its slots away, as if it
// were about to end, and gets them back like one that has come back. So does one whose disk completes nothing, though the others keep up.

// tellSlow is how often a slow peer is told.
const tellSlow = 250 * time.Millisecond

// lookAtPace tells peers that they are slow, and finds out whether this node is.
func (n *Node) lookAtPace() {
	now, said := n.mono(), 0
	tell := now-n.toldSlow >= tellSlow.Milliseconds()
	if tell {
		n.toldSlow = now
	}
	for _, p := range n.peers.All() {
		if tell && p.Alive() && p.Slow() {
			p.Send(wire.EndFrame(wire.BeginFrame(nil, protocol.FrameSlow), 0))
		}
		if p.FindsSlow(now) {
			said++
		}
	}
	late := n.lateAlone()
	slow := late || 2*said > len(n.peers.All())
	if n.replicas.SetSlow(slow) == slow {
		return
	}
	if late {
		n.log.Warn("the disk of this node is much slower than the others': it gives its slots away; look at the disk")
	} else if slow {
		n.log.Warn("the other nodes wait long for this one's answers: it gives its slots away; look at its disk, its processor and its network")
	} else {
		n.log.Info("this node answers soon again")
	}
}
