package replica

import (
	"sync/atomic"
	"time"
)

// SlowCommit is how long a commit takes from which on a node is behind.
const SlowCommit = 250 * time.Millisecond

// Commits is how the engine's commits go on. Moments are in monotonic milliseconds.
type Commits struct {
	staged, durable atomic.Uint64 // commits that were asked for, and that are done
	moved           atomic.Int64  // when a commit was done last, or when the first was asked for after nothing waited
	took            atomic.Int64  // how long the last one took
}

// asked notes that a commit is asked for.
func (c *Commits) asked(now int64) {
	if c.staged.Add(1) == c.durable.Load()+1 {
		c.moved.Store(now)
	}
}

// done notes that a commit is done that was asked for at a time.
func (c *Commits) done(asked, now int64) {
	c.durable.Add(1)
	c.moved.Store(now)
	c.took.Store(now - asked)
}

// Wait returns for how long nothing has been committed though something waits for it, 0 if nothing does.
func (c *Commits) Wait(now int64) time.Duration {
	if c.staged.Load() == c.durable.Load() {
		return 0
	}
	return time.Duration(now-c.moved.Load()) * time.Millisecond
}

// Took is how long the last one took.
func (c *Commits) Took() time.Duration { return time.Duration(c.took.Load()) * time.Millisecond }

// CommitsLate reports whether what is staged takes long to become durable.
func (h *Host) CommitsLate() bool {
	c := &h.Commits
	if c.staged.Load() == c.durable.Load() {
		return false
	}
	return c.Took() > SlowCommit || c.Wait(h.opt.Mono()) > SlowCommit
}
