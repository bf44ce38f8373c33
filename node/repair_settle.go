package node

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
)

const (
	// repairStep is the time between steps in which keys are written again; repairKeys bounds
	// each of them, to 5,000 keys a second, and the rate its bytes.
	repairStep = 20 * time.Millisecond
	repairKeys = 100
	// repairTries is how often a key is tried that could not be written, if somebody waits for it.
	repairTries = 5
	// defaultRepairRate is in bytes a second.
	defaultRepairRate = 25 << 20
	// repairPage is about how many records of each side are compared at a time, of at most
	// repairSlots slots.
	repairPage  = 5000
	repairSlots = 256
)

// suspect is a key of which a peer held another version than this node.
type suspect struct {
	protocol.SlotKey
	theirs record.Version
}

// comparison compares slots with one peer's.
type comparison struct {
	node     *Node
	view     *view
	peer     *peer
	request  RepairRequest
	progress *RepairProgress
	settling time.Duration
	rate     int64    // bytes a second
	only     []uint16 // these slots, nil for all
	noted    bool     // what is written was noted here, whoever is responsible for the slot

	missed      map[uint16]struct{} // slots of which one of the two has missed a write
	chores      chores
	keys, bytes int // of the step

	done     int64 // of the chores, as they were counted
	tries    int   // to write what could not be written
	forgiven int64 // chores that were not done, and were tried again
}

// run compares all slots of the request, and repairs what differs.
func (c *comparison) run(ctx context.Context) error {
	slots, compared, err := c.slots(ctx)
	if err != nil {
		return err
	}
	c.progress.Total.Add(int64(compared))
	c.progress.Slots.Add(int64(compared - len(slots)))
	defer func() { c.progress.Failed.Add(c.failed()) }()
	err = c.repair(ctx, slots, func(n int) { c.progress.Slots.Add(int64(n)) })
	for try := 1; err == nil && c.failed() > 0 && try < c.tries; try++ {
		// Two nodes that both took the slot for theirs have been in each other's way, say.
		if !sleep(ctx, c.settling) {
			return ctx.Err()
		}
		c.forgiven = c.chores.undone.Load()
		err = c.repair(ctx, slices.Sorted(maps.Keys(c.missed)), func(int) {})
	}
	if err != nil {
		return err
	}
	if done := c.chores.done.Load(); done > 0 {
		c.node.log.Info("keys were written again of which a replica had missed a write", "peer", c.peer.name, "keys", done, "slots", len(slots))
	}
	return nil
}

// failed is how many keys could not be written when that was tried last.
func (c *comparison) failed() int64 { return c.chores.undone.Load() - c.forgiven }

// repair repairs what differs in some slots, and tells how many of them it is done with.
func (c *comparison) repair(ctx context.Context, slots []uint16, compared func(slots int)) error {
	parts, err := c.narrow(ctx, slots)
	if err != nil {
		return err
	}
	compared(len(slots) - len(parts))
	var found []suspect // of many slots: they all settle in one moment
	for some := range slices.Chunk(parts, repairSlots) {
		request := askFor(some)
		for end := protocol.NewPlace(some[len(some)-1].slot+1, 0); request.From < end; {
			suspects, next, err := c.suspects(ctx, request)
			if err != nil {
				return err
			}
			if found = append(found, suspects...); len(found) >= repairPage {
				if err := c.settle(ctx, found); err != nil {
					return err
				}
				found = found[:0]
			}
			request.From = next
		}
		compared(len(some))
	}
	return c.settle(ctx, found)
}

// settle waits a moment, looks at suspects once more, and lets homes write those of which the
// peer holds what it held then, and still not what this node holds.
func (c *comparison) settle(ctx context.Context, suspects []suspect) error {
	if len(suspects) == 0 {
		return nil
	}
	if !sleep(ctx, c.settling) {
		return ctx.Err()
	}
	keys := make([]protocol.SlotKey, len(suspects))
	for i := range suspects {
		keys[i] = suspects[i].SlotKey
	}
	theirs, err := c.peer.versions(ctx, keys)
	if err != nil {
		return err
	}
	for i, s := range suspects {
		if theirs[i] != s.theirs {
			continue // it is being written
		}
		if err := c.rewrite(ctx, s); err != nil {
			return err
		}
	}
	return c.pause(ctx)
}

// rewrite is write, with a pause when a step is over.
func (c *comparison) rewrite(ctx context.Context, s suspect) error {
	size, err := c.write(s)
	if err != nil {
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
	n := c.node
	out := n.getOutbox()
	defer out.flush()
	st := n.lock(s.Slot, out)
	defer st.unlock()
	if !c.noted && !n.responsible(c.view, st, s.Slot) {
		return 0, nil // somebody else leads the slot now, and compares it
	}
	rec, _, err := n.engine.Get(s.Slot, s.Key)
	if err != nil {
		st.unreadable(s.Slot, err)
		return 0, err
	}
	if rec.Version == s.theirs {
		return 0, nil
	}
	if _, known := c.missed[s.Slot]; !known {
		c.missed[s.Slot] = struct{}{}
		c.progress.Differing.Add(1)
	}
	size := len(s.Key) + len(rec.State.Value)
	if c.request.DryRun {
		c.progress.Keys.Add(1)
		c.progress.Bytes.Add(int64(size))
		return 0, nil
	}
	n.chore(&c.chores, st, s.Slot, opRepair, s.Key)
	c.progress.Bytes.Add(int64(size))
	return size, nil
}

// pause ends a step: it waits for the homes to be done with what they were given, at least for
// the time of a step.
func (c *comparison) pause(ctx context.Context) error {
	wait := max(repairStep, c.due())
	c.keys, c.bytes = 0, 0
	defer c.count()
	for first := true; first || c.chores.open.Load() > 0 || c.node.inFlight.Load() > maxInFlight/2; first = false {
		if !sleep(ctx, wait) {
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

// count counts the chores that were done since the last time.
func (c *comparison) count() {
	done := c.chores.done.Load()
	c.progress.Keys.Add(done - c.done)
	c.done = done
}
