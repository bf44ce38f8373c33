package repair

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/quolldb/quoll/internal/clock"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/ring"
)

const (
	// repairStep is the time between steps in which keys are written again; repairKeys bounds
	// each of them, to 5,000 keys a second, and the rate its bytes.
	repairStep = 20 * time.Millisecond
	repairKeys = 100
	// repairTries is how often a key is tried that could not be written, if somebody waits for it.
	repairTries = 5
	// repairPage is about how many records of each side are compared at a time, of at most
	// repairSlots slots.
	repairPage  = 5000
	repairSlots = 256
)

// suspect is a key of which a peer held another version than this node.
type suspect struct {
	protocol.SlotKey
	theirs, mine record.Version
}

// comparison compares slots with one peer's.
type comparison struct {
	repairer *Repairer
	node     Node
	table    *ring.Table
	self     uint16
	peer     Peer
	request  Request
	progress *Progress
	settling time.Duration
	rate     int64    // bytes a second
	only     []uint16 // these slots, nil for all
	noted    bool     // what is written was noted here, whoever is responsible for the slot

	missed      map[uint16]struct{} // slots of which one of the two has missed a write
	unsure      int                 // what could not be compared, or was not seen to be there
	writes      writes
	answer      func(done bool) // writes.answered
	keys, bytes int             // of the step

	done    int64 // of the writes, as they were counted
	tries   int   // to write what could not be written
	retried int64 // writes that failed, and were tried again
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
		if !clock.Sleep(ctx, c.settling) {
			return ctx.Err()
		}
		c.retried = c.writes.failed.Load()
		err = c.repair(ctx, slices.Sorted(maps.Keys(c.missed)), func(int) {})
	}
	if err != nil {
		return err
	}
	if done := c.writes.done.Load(); done > 0 {
		c.repairer.log.Info("keys were written again of which a replica had missed a write", "peer", c.peer.Name(), "keys", done, "slots", len(slots))
	}
	return nil
}

// failed is how many keys could not be written when that was tried last.
func (c *comparison) failed() int64 { return c.writes.failed.Load() - c.retried }

// repair repairs what differs in some slots, and tells how many of them it is done with.
func (c *comparison) repair(ctx context.Context, slots []uint16, compared func(slots int)) error {
	parts, err := c.narrow(ctx, slots)
	if err != nil {
		return err
	}
	compared(len(slots) - len(parts))
	var found []suspect // of many slots: they all settle in one moment
	for some := range slices.Chunk(parts, repairSlots) {
		request := c.askFor(some)
		for end := protocol.NewPlace(some[len(some)-1].slot+1, 0); request.From < end; {
			suspects, next, err := c.suspects(ctx, request)
			if slot := request.From.Slot(); err != nil && c.changed(slot) {
				suspects, next, err = nil, protocol.NewPlace(slot+1, 0), nil
				c.unsure++
			}
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
	if !clock.Sleep(ctx, c.settling) {
		return ctx.Err()
	}
	all := len(suspects)
	suspects = slices.DeleteFunc(suspects, func(s suspect) bool { return c.changed(s.Slot) })
	c.unsure += all - len(suspects)
	keys := make([]protocol.SlotKey, len(suspects))
	for i := range suspects {
		keys[i] = suspects[i].SlotKey
	}
	theirs, err := askVersions(ctx, c.peer, c.table.Version(), keys)
	if err != nil {
		return err
	}
	for i, s := range suspects {
		if theirs[i] != s.theirs {
			if theirs[i].Less(s.mine) {
				c.unsure++
			}
			continue // it is being written
		}
		if err := c.rewrite(ctx, s); err != nil {
			return err
		}
	}
	return c.pause(ctx)
}
