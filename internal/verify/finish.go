package verify

import (
	"context"
	"slices"
	"sync"
	"sync/atomic"
	"time"
)

// readBack reads everything once more, when nobody writes any more, and returns how many keys, and groups of accounts, did not answer within the time.
func (r *run) readBack(ctx context.Context, patience time.Duration) (unread int) {
	r.phase.Store(readingBack)
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	if r.queues != nil {
		return r.queues.readBack(ctx)
	}
	var groups sync.WaitGroup
	unreadGroups := 0
	groups.Go(func() { unreadGroups = r.bank.readBack(ctx) })
	unread = inParallel(r.opt.Clients, r.pool.all(), func(n int, j judged) bool {
		for ; ctx.Err() == nil; n++ {
			if r.read(ctx, n%r.store.addresses(), j) == nil {
				return true
			}
			rest(ctx)
		}
		return false
	})
	groups.Wait()
	return unread + unreadGroups
}

// remove deletes all keys, unless they are to be kept, and returns how many may be left.
func (r *run) remove(ctx context.Context) (left int) {
	if r.opt.Keep {
		return 0
	}
	r.phase.Store(removing)
	ctx, cancel := context.WithTimeout(ctx, removeTime)
	defer cancel()
	return inParallel(r.opt.Clients, slices.Concat(r.pool.keys(), r.arena.left, r.bank.keys(), r.queues.remaining()), func(n int, key string) bool {
		for ; ctx.Err() == nil; n++ {
			if _, err := r.store.do(ctx, n%r.store.addresses(), "DEL", key); err == nil {
				return true
			}
			rest(ctx)
		}
		return false
	})
}

// inParallel does something for each of all, several at a time, and returns how often that failed.
func inParallel[T any](workers int, all []T, do func(n int, one T) bool) (failed int) {
	var next, failures atomic.Int64
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for n := int(next.Add(1)) - 1; n < len(all); n = int(next.Add(1)) - 1 {
				if !do(n, all[n]) {
					failures.Add(1)
				}
			}
		})
	}
	wait.Wait()
	return int(failures.Load())
}
