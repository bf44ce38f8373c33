package rebuild

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"github.com/quolldb/quoll/internal/metrics"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/ring"
)

const (
	// rebuildPause is the time until what did not work is tried again, unless a peer comes back before.
	rebuildPause = time.Second
	// rebuildPauseMost bounds the time until a slot is begun again that cannot be read though it was emptied.
	rebuildPauseMost = time.Minute
)

// Options say how slots are rebuilt.
type Options struct {
	// Rate bounds the bytes of keys and values that are copied in a second.
	Rate    int64
	Logger  *slog.Logger
	Metrics *metrics.Node
}

// Rebuilder rebuilds the damaged slots of a node. It belongs to the goroutine that calls Run, but for Add, Damaged, Soon, Begun and
// AnswerCopy.
type Rebuilder struct {
	node    Node
	opt     Options
	log     *slog.Logger
	wake    chan struct{}
	damaged damaged
	runs    map[uint16]*rebuild
	// begun are the slots that a former process was rebuilding. Nobody changes it.
	begun ring.SlotSet
}

// New returns the Rebuilder of a node that has opened no slot yet. Run runs it.
func New(node Node, opt Options) *Rebuilder {
	r := &Rebuilder{node: node, opt: opt, log: opt.Logger, wake: make(chan struct{}, 1), runs: map[uint16]*rebuild{}}
	for slot := range uint16(ring.Slots) {
		if meta, err := node.State(slot); err == nil && meta.Rebuilding {
			r.begun.Add(slot)
		}
	}
	return r
}

// Begun reports whether a former process was rebuilding a slot: it cannot be read, be it that nobody has opened it yet.
func (r *Rebuilder) Begun(slot uint16) bool { return r.begun.Has(slot) }

// Soon lets the Rebuilder look at what is damaged: a peer has come back.
func (r *Rebuilder) Soon() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// Run rebuilds what is damaged, until ctx ends.
func (r *Rebuilder) Run(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-r.node.Formed():
	}
	r.resume()
	for {
		var retry <-chan time.Time
		if r.pass(ctx) > 0 {
			retry = time.After(rebuildPause)
		}
		select {
		case <-ctx.Done():
			return
		case <-r.wake:
		case <-retry:
		}
	}
}

// resume goes on with what a former process has begun.
func (r *Rebuilder) resume() {
	for slot := range uint16(ring.Slots) {
		if r.begun.Has(slot) {
			locked := r.node.Lock(slot)
			_ = locked.Open() // which calls Add
			locked.Unlock()
		}
	}
}

// pass tries to rebuild every damaged slot, and returns how many are left.
func (r *Rebuilder) pass(ctx context.Context) (left int) {
	slots, _ := r.Damaged()
	for _, slot := range slots {
		if ctx.Err() != nil || r.node.Failed() {
			return 0
		}
		if err := r.rebuild(ctx, slot); err != nil {
			r.log.Debug("a damaged slot cannot be rebuilt yet", "slot", slot, "err", err)
			left++
		}
	}
	return left
}

// rebuild goes on with a slot where it was left.
func (r *Rebuilder) rebuild(ctx context.Context, slot uint16) error {
	run := r.runs[slot]
	if run == nil {
		run = &rebuild{rebuilder: r, node: r.node, slot: slot, next: map[uint16]engine.Position{}}
		r.runs[slot] = run
	}
	err := run.step(ctx)
	switch {
	case errors.Is(err, ErrNotHeld), errors.Is(err, errSound):
		r.damaged.remove(slot)
		delete(r.runs, slot)
		return nil
	case err == nil:
		delete(r.runs, slot)
	case errors.Is(err, register.ErrNotNow), errors.Is(err, engine.ErrCorrupt): // from the beginning
		run.failures++
		*run = rebuild{rebuilder: r, node: r.node, slot: slot, next: map[uint16]engine.Position{}, failures: run.failures,
			notBefore: time.Now().Add(min(rebuildPause<<min(run.failures, 6), rebuildPauseMost))}
	}
	return err
}
