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

const (
	tellSlow = 250 * time.Millisecond // how often a slow peer is told,
	slowFor  = time.Second            // and how long it believes it
)

// compare finds out which peers are slow. Links' readers call it.
func (n *Node) compare() {
	wire.Compare(len(n.peers), func(i int) (*wire.Link, *wire.Pace, bool) {
		p := n.peers[i]
		return p.link, &p.pace, p.alive()
	})
}

// lookAtPace tells peers that they are slow, and finds out whether this node is.
func (n *Node) lookAtPace() {
	now, said := n.mono(), 0
	tell := now-n.toldSlow >= tellSlow.Milliseconds()
	if tell {
		n.toldSlow = now
	}
	for _, p := range n.peers {
		if tell && p.alive() && p.pace.Slow() {
			p.send(wire.EndFrame(wire.BeginFrame(nil, protocol.FrameSlow), 0))
		}
		if at := p.slowSaid.Load(); at != 0 && now-at < slowFor.Milliseconds() {
			said++
		}
	}
	late := n.lateAlone()
	slow := late || 2*said > len(n.peers)
	if n.slow.Swap(slow) == slow {
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

// heardSlow notes that a peer finds this node slow.
func (n *Node) heardSlow(member uint16) {
	if p := n.peerOf(member); p != nil {
		p.slowSaid.Store(n.mono())
	}
}
