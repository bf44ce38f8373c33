package repair

import (
	"context"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/clock"
)

// How keys are written again: by the homes of their slots, and not faster than the rate.

// writes counts what homes were asked to write.
type writes struct {
	open   atomic.Int64 // that are not answered
	done   atomic.Int64
	failed atomic.Int64 // that were not executed, or nobody knows
}

func (w *writes) answered(done bool) {
	if done {
		w.done.Add(1)
	} else {
		w.failed.Add(1)
	}
	w.open.Add(-1)
}

// begin counts a write that a home is asked for, and returns what is to be told of the answer.
func (c *comparison) begin() (answered func(done bool)) {
	c.writes.open.Add(1)
	return c.answer
}

// rewrite is write, with a pause when a step is over.
func (c *comparison) rewrite(ctx context.Context, s suspect) error {
	size, err := c.write(s)
	if err != nil {
		c.node.Unreadable(s.Slot, err)
		return err
	}
	if c.keys, c.bytes = c.keys+1, c.bytes+size; c.keys >= repairKeys || c.due() >= repairStep {
		return c.pause(ctx)
	}
	return nil
}

// write lets the home of a key write it again unless this node holds what the peer holds. It
// returns how many bytes that takes.
func (c *comparison) write(s suspect) (int, error) {
	slots := c.node.LockForWrites(s.Slot)
	defer slots.Unlock()
	if c.changed(s.Slot) || !c.noted && !slots.Responsible(s.Slot) {
		c.unsure++
		return 0, nil // somebody else leads the slot now, and compares it, or it has moved
	}
	rec, _, err := slots.Get(s.Slot, s.Key)
	if err != nil {
		return 0, err
	}
	if rec.Version == s.theirs {
		return 0, nil
	}
	if _, known := c.missed[s.Slot]; !known {
		c.missed[s.Slot] = struct{}{}
		c.progress.Differing.Add(1)
	}
	size := len(s.Key) + rec.State.Size()
	if c.request.DryRun {
		c.progress.Keys.Add(1)
		c.progress.Bytes.Add(int64(size))
		return 0, nil
	}
	slots.Rewrite(s.Slot, s.Key, c.begin())
	c.progress.Bytes.Add(int64(size))
	return size, nil
}

// pause ends a step: it waits for the homes to be done with what they were given, at least for
// the time of a step.
func (c *comparison) pause(ctx context.Context) error {
	wait := max(repairStep, c.due())
	c.keys, c.bytes = 0, 0
	defer c.count()
	for first := true; first || c.writes.open.Load() > 0 || c.node.Busy(); first = false {
		if !clock.Sleep(ctx, wait) {
			return ctx.Err()
		}
		wait = repairStep
	}
	return nil
}

// due is how long the bytes of the step take at the rate.
func (c *comparison) due() time.Duration {
	return time.Duration(float64(c.bytes) / float64(c.rate) * float64(time.Second))
}

// count counts the writes that were done since the last time.
func (c *comparison) count() {
	done := c.writes.done.Load()
	c.progress.Keys.Add(done - c.done)
	c.done = done
}
