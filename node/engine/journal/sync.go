package journal

import (
	"context"
	"time"
)

// Sync makes everything appended before durable and waits for it. The end of ctx ends the
// waiting only. Any other error is final.
func (j *Journal) Sync(ctx context.Context) error {
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		return ErrClosed
	}
	synced := make(chan error, 1)
	j.goroutines.Add(1)
	j.commit(func(err error) {
		// A goroutine of its own: the next batch need not wait.
		go func() {
			defer j.goroutines.Done()
			if err == nil {
				err = j.syncWritten()
			}
			synced <- err
		}()
	})
	select {
	case err := <-synced:
		return err
	case <-ctx.Done():
		return ctx.Err()
	}
}

// syncWritten makes durable what is in the files.
func (j *Journal) syncWritten() error {
	j.syncing.Lock()
	defer j.syncing.Unlock()
	j.mu.Lock()
	if j.failed != nil {
		defer j.mu.Unlock()
		return j.failed
	}
	target := j.written
	j.syncList, j.dirty = j.dirty, j.syncList[:0]
	j.mu.Unlock()

	for _, s := range j.syncList {
		if err := s.file.Datasync(); err != nil {
			return j.fail("fdatasync", err)
		}
	}
	j.durable.Store(target)
	if n := len(j.syncList); n > 1 {
		j.mu.Lock()
		for _, s := range j.syncList[:n-1] {
			s.complete = true
		}
		j.mu.Unlock()
	}
	return nil
}

// runSyncer syncs every Interval while there is something to sync. A failure needs no
// handling here: whoever commits next is told.
func (j *Journal) runSyncer() {
	timer := time.NewTimer(j.opt.Interval)
	defer timer.Stop()
	for {
		select {
		case <-j.dirtied:
		case <-j.stop:
			return
		}
		timer.Reset(j.opt.Interval)
		select {
		case <-timer.C:
			_ = j.syncWritten()
		case <-j.stop:
			return
		}
	}
}
