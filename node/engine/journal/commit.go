package journal

import "runtime"

// inlineRounds is how many batches a goroutine that only wanted to commit writes before the
// writer's goroutine goes on.
const inlineRounds = 4

// Commit calls done exactly once when everything appended before is durable, or with an Interval
// written, or when that failed (ErrFailed, ErrClosed). It may do so before it
// returns. Callbacks come one at a time, in the order of their commits, without a lock
// held. They may append and commit again, and delay all later commits.
func (j *Journal) Commit(done func(error)) {
	j.mu.Lock()
	if j.closed {
		j.mu.Unlock()
		done(ErrClosed)
		return
	}
	j.commit(done)
}

// commit is called with the mutex and gives it back.
func (j *Journal) commit(done func(error)) {
	j.next.done = append(j.next.done, done)
	idle := !j.writing
	j.writing = true
	j.mu.Unlock()
	if idle {
		j.combine(true)
	}
}

// combine writes batches until there is none. The caller has the role of the writer,
// and loses it. Who came to commit only (inline) passes it to the writer's goroutine after
// some rounds, or where an fdatasync would keep him from his work.
func (j *Journal) combine(inline bool) {
	var b *batch
	for round := 0; ; round++ {
		if !inline {
			// Whoever was just called back, or is about to commit, shares this fdatasync.
			runtime.Gosched()
		}
		j.mu.Lock()
		if b != nil {
			j.free = b
		}
		if len(j.next.done) == 0 {
			j.writing = false
			j.idle.Broadcast()
			j.mu.Unlock()
			return
		}
		if inline && (round == inlineRounds || j.opt.Interval == 0 && j.next.staged() && j.failed == nil) {
			j.mu.Unlock()
			j.wake <- struct{}{}
			return
		}
		b = j.take()
		err := j.failed
		j.mu.Unlock()

		if err == nil && b.staged() {
			err = j.write(b)
		}
		for _, done := range b.done {
			done(err)
		}
		b.reset()
	}
}

// take returns the batch that has gathered, and begins another. The caller has the
// mutex and the role of the writer.
func (j *Journal) take() *batch {
	b := j.next
	j.next, j.free = j.free, nil
	if b.staged() {
		b.finish()
	}
	b.last = j.last.Load()
	return b
}

// runWriter is the writer's goroutine.
func (j *Journal) runWriter() {
	for {
		select {
		case <-j.wake:
			j.combine(false)
		case <-j.stop:
			return
		}
	}
}

// write writes a batch and, without an Interval, makes it durable.
func (j *Journal) write(b *batch) error {
	b.complete(j.durable.Load())
	if err := b.write(); err != nil {
		return j.fail("write", err)
	}
	j.mu.Lock()
	j.written = b.last
	for _, c := range b.cuts {
		if n := len(j.dirty); n == 0 || j.dirty[n-1] != c.seg {
			j.dirty = append(j.dirty, c.seg)
		}
	}
	j.mu.Unlock()
	if j.opt.Interval == 0 {
		return j.syncWritten()
	}
	signal(j.dirtied)
	return nil
}
