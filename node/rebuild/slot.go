package rebuild

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/clock"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/register"
)

// rebuildBytes is about how much of a slot travels in one frame.
const rebuildBytes = 256 << 10

// rebuild rebuilds one slot.
type rebuild struct {
	*register.Rebuild
	rebuilder *Rebuilder
	node      Node
	slot      uint16
	ready     bool                       // the other replicas have promised
	next      map[uint16]engine.Position // where to go on with each of them, by member

	failures  int       // of the store here; each new beginning takes the slot's term from whoever leads it
	notBefore time.Time // to begin again
}

var errLater = errors.New("it did not work a moment ago")

// ErrNotHeld says that the ring does not give a slot to the node any more: there is nothing to rebuild.
var ErrNotHeld = errors.New("the node does not hold the slot any more")

// errSound says that there is nothing to rebuild: the node has given up the slot, and come to it again, empty.
var errSound = errors.New("the slot is sound")

var errNobody = errors.New("no other node holds the slot: its data is lost; make a new cluster from a backup (quoll node restore)")

// step does what is left to do, until something does not work.
func (b *rebuild) step(ctx context.Context) error {
	if err := b.locked(func(Slot) error { return nil }); err != nil {
		return err
	}
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
			return fmt.Errorf("%s: %w", p.Name(), err)
		}
	}
	for _, p := range others {
		for b.next[p.ID()] < engine.EndPosition {
			if err := b.copy(ctx, p); err != nil {
				return fmt.Errorf("%s: %w", p.Name(), err)
			}
		}
	}
	return b.finish()
}

// others returns the nodes that hold the slot's other replicas: all of them are needed.
func (b *rebuild) others() ([]Peer, error) {
	others, err := b.node.Others(b.slot)
	if err != nil {
		return nil, err
	}
	if len(others) == 0 {
		return nil, errNobody
	}
	for _, p := range others {
		if !p.Alive() {
			return nil, fmt.Errorf("%s: %s", p.Name(), p.Unreachable())
		}
	}
	return others, nil
}

// locked calls do with the slot, while it is locked, if the node holds it still, and it is damaged.
func (b *rebuild) locked(do func(Slot) error) error {
	slot := b.node.Lock(b.slot)
	defer slot.Unlock()
	switch err := slot.Open(); {
	case err == nil:
		return errSound
	case errors.Is(err, ErrNotHeld):
		return err
	}
	err := do(slot)
	if err != nil && !errors.Is(err, register.ErrNoRoom) && !errors.Is(err, register.ErrNotNow) && !errors.Is(err, engine.ErrCorrupt) {
		b.node.StorageFailed(err)
	}
	return err
}

// persist has written what the rebuild wants to have persisted, if there was no error.
func (b *rebuild) persist(slot Slot, err error) error {
	if err != nil || !b.Write.Wanted() {
		return err
	}
	return b.Persisted(slot.Persist(&b.Write))
}

// begin stops the slot for good, and chooses the ballot that the others promise.
func (b *rebuild) begin() error {
	return b.locked(func(slot Slot) (err error) {
		if b.Rebuild, err = slot.Begin(); err != nil {
			return err
		}
		if err = b.persist(slot, nil); err != nil {
			b.Rebuild = nil // it has not begun
		}
		return err
	})
}

// fence asks a replica for its promise. When the last one has promised, the own records are
// removed.
func (b *rebuild) fence(ctx context.Context, p Peer) error {
	page, err := askCopy(ctx, p, b.request(p, 0))
	if err != nil {
		return err
	}
	return b.locked(func(slot Slot) error {
		ready, err := b.Promised(p.ID(), page.Floor, page.Cleared)
		err = b.persist(slot, err)
		b.ready = ready && err == nil
		return err
	})
}

// copy copies some records of a replica, and waits until they are durable, and for as long as
// repairs would take for as many bytes.
func (b *rebuild) copy(ctx context.Context, p Peer) error {
	began := time.Now()
	page, err := askCopy(ctx, p, b.request(p, rebuildBytes))
	if err != nil {
		return err
	}
	size := 0
	err = b.locked(func(slot Slot) error {
		for i := range page.Entries {
			e := &page.Entries[i]
			rec := e.Record
			if len(rec.State.Value) > record.CopiedValue { // it would keep the whole page
				rec.State.Value = buffer.Clone(rec.State.Value)
			}
			if err := b.persist(slot, b.Copy(e.Key, rec)); err != nil {
				return err
			}
			size += len(e.Key) + rec.State.Size()
		}
		if engine.Position(page.Next) < engine.EndPosition {
			return nil
		}
		return b.Copied(p.ID(), page.Floor, page.Cleared)
	})
	if err != nil {
		return err
	}
	b.next[p.ID()] = engine.Position(page.Next)
	if err := b.node.Committed(ctx); err != nil {
		return err
	}
	if !clock.Sleep(ctx, time.Duration(size)*time.Second/time.Duration(b.rebuilder.opt.Rate)-time.Since(began)) {
		return context.Cause(ctx)
	}
	return nil
}

func (b *rebuild) request(p Peer, limit int) protocol.CopyRequest {
	return protocol.CopyRequest{Slot: b.slot, Epoch: b.Config().Epoch(), Ballot: b.Ballot(), From: uint64(b.next[p.ID()]), Limit: limit}
}

// finish lets the slot vote again.
func (b *rebuild) finish() error {
	r := b.rebuilder
	return b.locked(func(slot Slot) error {
		if err := b.persist(slot, b.Finish()); err != nil {
			return err
		}
		slot.Restored()
		r.damaged.remove(b.slot)
		r.opt.Metrics.Rebuilt.Inc()
		r.log.Info("a damaged slot has been copied from its other replicas; this node votes for it again", "slot", b.slot)
		return nil
	})
}
