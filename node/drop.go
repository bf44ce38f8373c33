package node

import (
	"time"

	"github.com/quolldb/quoll/node/repair"
	"github.com/quolldb/quoll/ring"
)

// What a node holds of slots that are others' by now it shows to nobody, and some time later it removes it.

const (
	// dropStep is the time between steps, in each of which dropSlots slots are looked at: all of them in six seconds.
	dropStep  = 100 * time.Millisecond
	dropSlots = 256
	// dropGrace is how long a slot has not been this node's before what is left of it is removed: there is no hurry, and it may be of use to somebody who looks for what was
	// lost elsewhere.
	dropGrace = time.Minute
)

// dropper removes what is left of slots that the node does not hold any more. It belongs to one goroutine.
type dropper struct {
	node  *Node
	grace time.Duration
	next  uint16
	since map[uint16]int64 // slots of which something is left, and when that was seen first, in monotonic milliseconds
	rest  int64            // nothing is removed until then
}

func newDropper(n *Node) *dropper {
	return &dropper{node: n, grace: dropGrace, since: map[uint16]int64{}}
}

// step looks at some slots.
func (d *dropper) step() {
	n := d.node
	if n.replicas.View() == nil || n.replicas.Failed() || n.exec.Busy() {
		return
	}
	for range dropSlots {
		d.look(d.next)
		d.next = (d.next + 1) % ring.Slots
	}
}

func (d *dropper) look(number uint16) {
	n, now := d.node, d.node.mono()
	bytes := n.replicas.Leftover(number)
	if bytes == 0 {
		delete(d.since, number)
		return
	}
	since, seen := d.since[number]
	if !seen {
		d.since[number] = now
		since = now
	}
	if now-since < d.grace.Milliseconds() || now < d.rest || !n.replicas.Drop(number) {
		return
	}
	delete(d.since, number)
	rate := n.opt.RepairRate
	if rate < 0 { // repairs are paused; what is left over is in the way all the same
		rate = repair.DefaultRate
	}
	d.rest = now + int64(bytes)*1000/rate
	n.log.Debug("what was left of a slot that other nodes hold was removed", "slot", number, "bytes", bytes)
}
