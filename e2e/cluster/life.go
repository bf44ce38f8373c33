//go:build unix

package cluster

import (
	"syscall"
	"time"
)

// Kill ends processes at once with SIGKILL, as far as they run, and waits until they are
// gone. One that has rules must run and not hang: what they did so far is counted.
func (c *Cluster) Kill(members ...*Member) {
	c.t.Helper()
	for _, m := range members {
		if len(m.rules) > 0 {
			c.injected.Add(m.injected())
		}
	}
	for _, m := range members { // nobody has time to notice that another one is gone
		m.Signal(syscall.SIGKILL)
	}
	for _, m := range members {
		m.Kill()
	}
}

// KillAll is Kill of all nodes.
func (c *Cluster) KillAll() {
	c.t.Helper()
	c.Kill(c.Nodes...)
}

// TerminateAll ends all nodes in order, at the same time.
func (c *Cluster) TerminateAll() {
	c.t.Helper()
	for _, m := range c.Nodes {
		m.Signal(syscall.SIGTERM)
	}
	for _, m := range c.Nodes {
		m.endedWell()
	}
}

// StartAll starts the nodes, none of which runs, waits until all of them are ready and
// returns how long that took.
func (c *Cluster) StartAll() time.Duration {
	c.t.Helper()
	began := time.Now()
	for _, m := range c.Nodes {
		m.Start()
	}
	c.AwaitNodes()
	return time.Since(began)
}

// AwaitNodes waits until all nodes are ready.
func (c *Cluster) AwaitNodes() {
	c.t.Helper()
	for _, m := range c.Nodes {
		m.AwaitReady()
	}
}
