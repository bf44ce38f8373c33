package disk

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/node/engine"
)

// watchInterval is how often the file system is asked what is left.
const watchInterval = 250 * time.Millisecond

// usageInterval is how often the files are measured, and boundedInterval the same where there is a bound.
const usageInterval, boundedInterval = 5 * time.Second, time.Second

// journalMost is how many times FlushSize the store may be behind before writes are refused. Who heeds Pause never brings it so far.
const journalMost = 16

// space is what is known of the disk.
type space struct {
	free  atomic.Int64
	usage atomic.Pointer[engine.Usage]
}

// watch looks after the disk until ctx ends.
func (e *Engine) watch(ctx context.Context) {
	ticker := time.NewTicker(watchInterval)
	defer ticker.Stop()
	measured := time.Now()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
		e.freeSpace()
		if since := time.Since(measured); since > usageInterval || e.opt.MaxDisk > 0 && since > boundedInterval {
			measured = time.Now()
			e.measure()
		}
	}
}

// freeSpace asks the file system what is left.
func (e *Engine) freeSpace() int64 {
	_, free, err := e.opt.System.Space(e.opt.Dir)
	if err != nil {
		return e.space.free.Load() // better an old number than a wrong one
	}
	e.space.free.Store(free)
	return free
}

// leastSpace is what the store may need to start or to end.
func (e *Engine) leastSpace() int64 { return e.kind.Least(&e.opt) }

// floor is the space below which nothing is written to the store.
func (e *Engine) floor() int64 { return e.kind.Floor(&e.opt) }

// The parts of MaxDisk, in hundredths: from crowdedAt on there is no room for more data, and from brimfulAt on not for that of other nodes either. What deletions write has room all the same.
const crowdedAt, brimfulAt = 95, 100

// within says whether the files are within MaxDisk.
func (e *Engine) within() error {
	used, most := int64(e.space.usage.Load().Disk), e.opt.MaxDisk
	if most <= 0 || used < most/100*crowdedAt {
		return nil
	}
	short := engine.ErrCrowded
	if used >= most/100*brimfulAt {
		short = engine.ErrBrimful
	}
	return fmt.Errorf("%w: the files in %s take %s, of %s that they may take", short, e.opt.Dir, size(used), size(most))
}

// Room implements engine.Engine.
func (e *Engine) Room() error {
	free := e.space.free.Load()
	if e.journal.Room() < e.opt.SegmentSize/2 { // somebody may have taken the space since it was looked at
		free = e.freeSpace()
	}
	if free < e.opt.Reserve {
		return fmt.Errorf("%w: %s is free on the disk of %s, of which %s has to remain so", engine.ErrFull, size(free), e.opt.Dir, size(e.opt.Reserve))
	}
	if behind := e.behind(); e.unflushed.Load() > lagMost*e.opt.FlushSize && behind > journalMost*e.opt.FlushSize {
		reason := "the disk is too slow"
		if err := e.lagging.Load(); err != nil {
			reason = (*err).Error()
		}
		return fmt.Errorf("%w: the journal holds %s that could not be written to the store: %s", engine.ErrFull, size(behind), reason)
	}
	return e.within()
}

// Usage implements engine.Engine.
func (e *Engine) Usage() engine.Usage {
	u := *e.space.usage.Load()
	u.Free = uint64(max(0, e.space.free.Load()))
	return u
}

// measure adds up the files. What is live is what the records would take written once.
func (e *Engine) measure() {
	store, err := e.opt.System.Used(e.opt.Dir)
	log, err2 := e.opt.System.Used(e.opt.Journal)
	if errors.Join(err, err2) != nil {
		return
	}
	totals, _ := e.Totals()
	live := min(store, totals.Bytes+(totals.Live+totals.Tombstones)*diskOverhead)
	e.space.usage.Store(&engine.Usage{Disk: store + log, Live: live, Dead: store - live, Journal: log})
}

// diskOverhead is what a record takes on disk besides key and value: the store's key and what
// goes with each entry and its place in the index.
const diskOverhead = 64

// size shows a number of bytes.
func size(bytes int64) string {
	if bytes < gib {
		return fmt.Sprintf("%.1f MiB", float64(bytes)/mib)
	}
	return fmt.Sprintf("%.1f GiB", float64(bytes)/gib)
}
