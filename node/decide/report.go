package decide

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/quolldb/quoll/ring/change"
)

// Reporter proposes that this node has collected slots: what Done is told, put together, until the document shows that it is so, or that it does not matter any more.
type Reporter struct {
	// Document returns the newest that the node knows, nil if it knows none, Self which member it is, 0 for none.
	Document func() *change.Document
	Self     func() uint16
	// Propose has an entry decided.
	Propose func(ctx context.Context, e change.Entry) error
	// By is who the log says it was.
	By     string
	Logger *slog.Logger

	mu      sync.Mutex
	pending map[uint16]uint64 // epochs by slot
	last    time.Time         // when it reported last
}

const (
	// reportEvery is how often a node makes a report, at most.
	reportEvery = 100 * time.Millisecond
	// gatherLeast is how long a node gathers what it reports as long as it has more to collect, for gatherEach for each member that collects, and gatherMost at most. Every report is
	// a version of the ring, which all nodes and proxies take up.
	gatherLeast, gatherEach, gatherMost = 500 * time.Millisecond, 100 * time.Millisecond, 2 * time.Second
	// maxReported is how many slots are reported at once.
	maxReported = 1024
	// retryReport is how long a reporter waits when nobody could decide.
	retryReport = time.Second
)

// Done tells that this node has collected slots, in these epochs. It does not block, and may be called at any time.
func (r *Reporter) Done(slots []change.SlotEpoch) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.pending == nil {
		r.pending = map[uint16]uint64{}
	}
	for _, s := range slots {
		r.pending[s.Slot] = max(r.pending[s.Slot], s.Epoch)
	}
}

// Run reports until ctx ends.
func (r *Reporter) Run(ctx context.Context) {
	for {
		pause := reportEvery
		if !r.report(ctx) {
			pause = retryReport
		}
		select {
		case <-ctx.Done():
			return
		case <-time.After(pause):
		}
	}
}

// report makes one proposal of what there is to report, and is false if nobody could decide.
func (r *Reporter) report(ctx context.Context) bool {
	self := r.Self()
	slots := r.next(self)
	if len(slots) == 0 {
		return true
	}
	r.last = time.Now()
	err := r.Propose(ctx, change.Entry{By: r.By, Complete: &change.Complete{Member: self, Slots: slots}})
	if err != nil && !errors.Is(err, change.ErrStale) { // ErrStale: none of it was so any more
		r.Logger.Debug("what was collected could not be reported yet", "slots", len(slots), "err", err)
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range slots {
		if r.pending[s.Slot] == s.Epoch {
			delete(r.pending, s.Slot)
		}
	}
	return true
}

// next returns what is to be reported, ordered by slot, and forgets what is not so any more.
func (r *Reporter) next(self uint16) []change.SlotEpoch {
	d := r.Document()
	r.mu.Lock()
	defer r.mu.Unlock()
	if d == nil || self == 0 || len(r.pending) == 0 {
		return nil
	}
	var slots []change.SlotEpoch
	for slot, epoch := range r.pending {
		if epoch < d.Slots[slot].Epoch || epoch == d.Slots[slot].Epoch && !waitsFor(d, slot, self) {
			delete(r.pending, slot)
			continue
		}
		slots = append(slots, change.SlotEpoch{Slot: slot, Epoch: epoch})
	}
	if len(slots) < maxReported && time.Since(r.last) < gatherFor(d, self, len(slots)) {
		return nil
	}
	slices.SortFunc(slots, func(a, b change.SlotEpoch) int { return cmp.Compare(a.Slot, b.Slot) })
	return slots[:min(len(slots), maxReported)]
}

// gatherFor returns how long a member gathers what it reports: not at all if it has collected all that it is to collect.
func gatherFor(d *change.Document, self uint16, done int) time.Duration {
	collectors, waits := map[uint16]bool{}, 0
	for _, p := range d.Joint {
		for _, id := range p.Waiting {
			collectors[id] = true
			if id == self {
				waits++
			}
		}
	}
	if done >= waits {
		return 0
	}
	return min(max(gatherLeast, time.Duration(len(collectors))*gatherEach), gatherMost)
}

// waitsFor reports whether a joint slot waits for a member.
func waitsFor(d *change.Document, slot, member uint16) bool {
	i, found := slices.BinarySearchFunc(d.Joint, slot, func(p change.Progress, slot uint16) int { return cmp.Compare(p.Slot, slot) })
	return found && slices.Contains(d.Joint[i].Waiting, member)
}
