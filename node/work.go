package node

import (
	"sync/atomic"
	"time"
)

// A node that has more to do than it can, or whose disk is slow, answers late. It says so to those who wait (wire.Server), and they
// wait for longer than the operation time-out: to give up would make the outcome of writes unknown, and to ask again would make
// more work. A node whose disk completes nothing for a while is another case: it looks alive, and nothing will come of what it
// is asked. It falls silent then, and the others do without it.

const (
	// aloneAfter is how long a disk may complete nothing until this node gives its slots away, if the
	// other nodes keep up, and stuckAfter how long until it is taken for hung, whatever the others do.
	aloneAfter = 2 * time.Second
	stuckAfter = 30 * time.Second
	// slowFresh is how long it counts that a request was seen which waits for long: some ticks.
	slowFresh = 10 * tickInterval
)

// work is what a node knows of how its work goes on. Times are in monotonic milliseconds.
type work struct {
	slow atomic.Int64 // when a request was seen last that waits for long, though a quorum is alive

	// What belongs to lookAtWork.
	since   time.Time   // this node is behind, or is not, as of the last look
	changed bool        // that is what was seen last
	behind  atomic.Bool // and what was said last
	hangs   atomic.Bool
}

// working reports whether who waits for this node shall go on doing so.
func (n *Node) working() bool {
	at := n.work.slow.Load()
	return at != 0 && time.Duration(n.mono()-at)*time.Millisecond < slowFresh || n.replicas.CommitsLate()
}

// stuck reports whether the disk seems to hang.
func (n *Node) stuck() bool { return n.replicas.Commits.Wait(n.mono()) > stuckAfter }

// lateAlone reports whether the disk has completed nothing for a while, and the others are well: a majority is alive without
// this node, and keeps up.
func (n *Node) lateAlone() bool {
	if n.replicas.Commits.Wait(n.mono()) < aloneAfter {
		return false
	}
	well := 0
	for _, p := range n.peers.All() {
		if p.Alive() && !p.Working() {
			well++
		}
	}
	return 2*well > len(n.peers.All())+1
}

// behindFor is how long a node has to be behind, or not, until it says so: a burst is no news.
const behindFor = 5 * time.Second

// lookAtWork says when the disk hangs, when this node is behind, and when that is over.
func (n *Node) lookAtWork() {
	w := &n.work
	if stuck := n.stuck(); w.hangs.Swap(stuck) != stuck {
		if stuck {
			n.log.Error("the disk completes nothing: this node falls silent, and others do without it; look at the disk", "for", stuckAfter)
		} else {
			n.log.Info("the disk goes on")
		}
	}
	now, behind := time.Now(), n.server.Behind()
	if behind != w.changed || w.since.IsZero() {
		w.changed, w.since = behind, now
	}
	if behind == w.behind.Load() || now.Sub(w.since) < behindFor {
		return
	}
	w.behind.Store(behind)
	if behind {
		n.log.Warn("this node has more to do than it can: clients wait for longer, nothing is refused; look at its disk and its processor",
			"commit", n.replicas.Commits.Took(), "operations", n.replicas.InFlight())
	} else {
		n.log.Info("this node keeps up again")
	}
}
