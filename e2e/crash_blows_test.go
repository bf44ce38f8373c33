//go:build unix

package e2e

import (
	"time"

	"github.com/quolldb/quoll/e2e/cluster"
)

// blow is a way to end and restart nodes. All nodes run before and after it.
type blow struct {
	name   string
	strike func(*crasher)
}

// blows are all that a crasher can do.
var blows = []blow{
	{"all nodes killed at once", (*crasher).killAll},
	{"killed again while they start", (*crasher).killWhileTheyStart},
	{"one killed after the other without a pause", (*crasher).killInTurn},
	{"a replica that was away is needed", (*crasher).leaveOneBehind},
	{"rolling restart", (*crasher).restartInTurn},
	{"all ended in order", (*crasher).endAll},
}

func (c *crasher) killAll() {
	c.c.KillAll()
	c.startAll()
}

// killWhileTheyStart kills nodes that open their store and replay their journal.
func (c *crasher) killWhileTheyStart() {
	c.c.KillAll()
	for range 1 + c.random.IntN(3) {
		for _, m := range c.shuffled() {
			m.Start()
		}
		c.moment(300 * time.Millisecond)
		c.c.KillAll()
	}
	c.startAll()
}

// killInTurn waits for nobody: at times no majority is there.
func (c *crasher) killInTurn() {
	for range 2 {
		for _, m := range c.shuffled() {
			m.Kill()
			m.Start()
			c.moment(100 * time.Millisecond)
		}
	}
	c.c.AwaitNodes()
}

// leaveOneBehind makes a node that misses writes a part of the only majority.
func (c *crasher) leaveOneBehind() {
	nodes := c.shuffled()
	nodes[0].Kill()
	c.l.progress(300)
	nodes[1].Kill()
	nodes[0].Start()
	nodes[0].AwaitReady()
	c.l.everybodyIsServed()
	nodes[1].Start()
	nodes[1].AwaitReady()
}

// restartInTurn is how a new version is rolled out.
func (c *crasher) restartInTurn() {
	for _, m := range c.c.Nodes {
		m.Terminate()
		m.Start()
		m.AwaitReady()
	}
}

func (c *crasher) endAll() {
	c.c.TerminateAll()
	c.startAll()
}

func (c *crasher) shuffled() []*cluster.Member {
	var nodes []*cluster.Member
	for _, i := range c.random.Perm(len(c.c.Nodes)) {
		nodes = append(nodes, c.c.Nodes[i])
	}
	return nodes
}

// moment lets a random time pass, up to a longest one: blows fall at any moment.
func (c *crasher) moment(longest time.Duration) {
	time.Sleep(time.Duration(c.random.Int64N(int64(longest))))
}
