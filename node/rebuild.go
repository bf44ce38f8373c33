package node

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/quolldb/quoll/internal/clock"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/node/repair"
	"github.com/quolldb/quoll/ring"
)

// A slot of which a record cannot be read does not vote, and is rebuilt: the node removes what it has of
// the slot, copies all records of all its other replicas, and votes again. The rules are in
// register.Rebuild; this is what asks the others, one slot after the other.

const (
	// rebuildPause is the time until what did not work is tried again, unless a peer comes back before.
	rebuildPause = time.Second
	// rebuildPauseMost bounds the time until a slot is begun again that cannot be read though it was emptied.
	rebuildPauseMost = time.Minute
	// rebuildBytes is about how much of a slot travels in one frame.
	rebuildBytes = 256 << 10
)

// rebuilder rebuilds damaged slots. It belongs to one goroutine, but for soon.
type rebuilder struct {
	node *Node
	wake chan struct{}
	runs map[uint16]*rebuild
	// begun are the slots that a former process was rebuilding. Nobody changes it.
	begun ring.SlotSet
}

func newRebuilder(n *Node) *rebuilder {
	r := &rebuilder{node: n, wake: make(chan struct{}, 1), runs: map[uint16]*rebuild{}}
	for number := range uint16(ring.Slots) {
		if meta, err := n.engine.Slot(number); err == nil && meta.Rebuilding {
			r.begun.Add(number)
		}
	}
	return r
}

// soon lets the rebuilder look at what is damaged.
func (r *rebuilder) soon() {
	select {
	case r.wake <- struct{}{}:
	default:
	}
}

// run rebuilds what is damaged, until ctx ends.
func (r *rebuilder) run(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-r.node.formed:
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
func (r *rebuilder) resume() {
	n := r.node
	out := n.getOutbox()
	defer out.flush()
	for number := range uint16(ring.Slots) {
		if !r.begun.Has(number) {
			continue
		}
		st := n.lock(number, out)
		_, _ = st.slot(number) // which says so
		st.unlock()
	}
}

// pass tries to rebuild every damaged slot, and returns how many are left.
func (r *rebuilder) pass(ctx context.Context) (left int) {
	n := r.node
	for _, number := range n.damage.slots() {
		if ctx.Err() != nil || n.failed.Load() {
			return 0
		}
		if err := r.rebuild(ctx, number); err != nil {
			n.log.Debug("a damaged slot cannot be rebuilt yet", "slot", number, "err", err)
			left++
		}
	}
	return left
}

// rebuild goes on with a slot where it was left.
func (r *rebuilder) rebuild(ctx context.Context, number uint16) error {
	run := r.runs[number]
	if run == nil {
		run = &rebuild{node: r.node, number: number, next: map[*peer]engine.Position{}}
		r.runs[number] = run
	}
	err := run.step(ctx)
	switch {
	case err == nil:
		delete(r.runs, number)
	case errors.Is(err, register.ErrNotNow), errors.Is(err, engine.ErrCorrupt): // from the beginning
		run.failures++
		*run = rebuild{node: run.node, number: number, next: map[*peer]engine.Position{}, failures: run.failures,
			notBefore: time.Now().Add(min(rebuildPause<<min(run.failures, 6), rebuildPauseMost))}
	}
	return err
}

// rebuild rebuilds one slot.
type rebuild struct {
	*register.Rebuild
	node   *Node
	number uint16
	ready  bool                      // the other replicas have promised
	next   map[*peer]engine.Position // where to go on with each of them

	failures  int       // of the store here; each new beginning takes the slot's term from whoever leads it
	notBefore time.Time // to begin again
}

var errLater = errors.New("it did not work a moment ago")

var errNobody = errors.New("no other node holds the slot: its data is lost; make a new cluster from a backup (quoll node restore)")

// step does what is left to do, until something does not work.
func (b *rebuild) step(ctx context.Context) error {
	others, err := b.others()
	if err != nil {
		return err
	}
	if b.Rebuild == nil {
		if time.Now().Before(b.notBefore) {
			return errLater
		}
		if err := b.begin(); err != nil {
			return err
		}
	}
	for _, p := range others {
		if b.ready {
			break
		}
		if err := b.fence(ctx, p); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	for _, p := range others {
		for b.next[p] < engine.EndPosition {
			if err := b.copy(ctx, p); err != nil {
				return fmt.Errorf("%s: %w", p.name, err)
			}
		}
	}
	return b.finish()
}

// others returns the links to the slot's other replicas: all of them are needed.
func (b *rebuild) others() (others []*peer, err error) {
	v := b.node.view.Load()
	for _, id := range v.table.Replicas(b.number) {
		switch p := b.node.peerOf(id); {
		case p == nil:
		case !p.alive():
			return nil, fmt.Errorf("%s: %s", p.name, p.unreachable())
		default:
			others = append(others, p)
		}
	}
	if len(others) == 0 {
		return nil, errNobody
	}
	return others, nil
}

// locked calls do with the slot, while its stripe is locked.
func (b *rebuild) locked(do func(*stripe, *slot) error) error {
	out := b.node.getOutbox()
	defer out.flush()
	st := b.node.lock(b.number, out)
	defer st.unlock()
	err := do(st, st.slots[b.number/stripes])
	if err != nil && !errors.Is(err, register.ErrNoRoom) && !errors.Is(err, register.ErrNotNow) && !errors.Is(err, engine.ErrCorrupt) {
		b.node.storageFailed(err)
	}
	return err
}

// begin stops the slot for good, and chooses the ballot that the others promise.
func (b *rebuild) begin() error {
	return b.locked(func(_ *stripe, sl *slot) (err error) {
		b.Rebuild, err = sl.home.Rebuild()
		return err
	})
}

// fence asks a replica for its promise. When the last one has promised, the own records are
// removed.
func (b *rebuild) fence(ctx context.Context, p *peer) error {
	page, err := p.copy(ctx, b.request(p, 0))
	if err != nil {
		return err
	}
	return b.locked(func(*stripe, *slot) (err error) {
		b.ready, err = b.Promised(p.id, page.Floor, page.Cleared)
		return err
	})
}

// copy copies some records of a replica, and waits until they are durable, and for as long as
// repairs would take for as many bytes.
func (b *rebuild) copy(ctx context.Context, p *peer) error {
	began := time.Now()
	page, err := p.copy(ctx, b.request(p, rebuildBytes))
	if err != nil {
		return err
	}
	size := 0
	err = b.locked(func(*stripe, *slot) error {
		for i := range page.Entries {
			e := &page.Entries[i]
			rec := e.Record
			rec.State.Value = own(rec.State.Value)
			if err := b.Copy(e.Key, rec); err != nil {
				return err
			}
			size += len(e.Key) + len(rec.State.Value)
		}
		if engine.Position(page.Next) < engine.EndPosition {
			return nil
		}
		return b.Copied(p.id, page.Floor, page.Cleared)
	})
	if err != nil {
		return err
	}
	b.next[p] = engine.Position(page.Next)
	if err := b.node.committed(ctx); err != nil {
		return err
	}
	rate := b.node.opt.RepairRate
	if rate < 0 { // repairs are paused; a slot that does not vote cannot wait
		rate = repair.DefaultRate
	}
	if !clock.Sleep(ctx, time.Duration(size)*time.Second/time.Duration(rate)-time.Since(began)) {
		return context.Cause(ctx)
	}
	return nil
}

func (b *rebuild) request(p *peer, limit int) protocol.CopyRequest {
	return protocol.CopyRequest{Slot: b.number, Epoch: b.Config().Epoch(), Ballot: b.Ballot(), From: uint64(b.next[p]), Limit: limit}
}

// finish lets the slot vote again.
func (b *rebuild) finish() error {
	return b.locked(func(st *stripe, sl *slot) error {
		if err := b.Finish(); err != nil {
			return err
		}
		sl.err = nil
		b.node.damage.remove(b.number)
		b.node.Metrics.Rebuilt.Inc()
		b.node.log.Info("a damaged slot has been copied from its other replicas; this node votes for it again", "slot", b.number)
		return nil
	})
}
