package route

import (
	"time"
)

// Execute implements Cluster. It works in rounds: whatever is ready is sent, one
// frame to each node; then it waits until everything has its outcome, or something is ready to
// be sent again (to the home, to another replica), or the time is up.
func (c *Coordinator) Execute(b *Batch) {
	if len(b.Ops) == 0 {
		return
	}
	s := &b.state
	s.mu.Lock()
	view := c.ring.Load()
	s.view = view
	b.begin()
	ready := view != nil && len(b.Ops) <= maxOpsRun
	if !ready {
		s.failAll(ErrNotReady)
	}
	s.mu.Unlock()
	if !ready {
		b.answer()
		return
	}
	c.batches.add(b)
	s.begun = time.Now()
	s.lost = c.pauses.total(s.begun)
	s.allow(s.begun, c.cfg.OperationTimeout)
	c.rounds(b)
	s.timer.Stop()
	c.batches.remove(b)
	s.mu.Lock()
	s.trim()
	s.mu.Unlock()
}

func (s *batchState) failAll(err *ReplyError) {
	for i := range s.ops {
		s.fail(&s.ops[i], err)
	}
}

// rounds returns when every operation has its outcome. Nothing is sent again in the
// last tenth of the time: a write whose answer did not come in time would end as unknown.
func (c *Coordinator) rounds(b *Batch) {
	s := &b.state
	first := s.round // of this batch
	for {
		view := c.ring.Load()
		if time.Now().Before(s.last) {
			if s.round > first {
				c.batches.again(b)
			}
			s.mu.Lock()
			c.send(view, b)
			s.mu.Unlock()
		}
		if !c.await(view, b) {
			return
		}
		s.mu.Lock()
		pause := s.pause()
		s.mu.Unlock()
		if pause > 0 {
			b.rest(min(pause, time.Until(s.deadline)))
		}
	}
}

// await waits until something can be sent, which it cannot in the last tenth of the time, and answers
// parts meanwhile. It reports false when every operation has its outcome, which it sees
// to when the time is up.
func (c *Coordinator) await(view *ringView, b *Batch) bool {
	s := &b.state
	for {
		pending, sendable := b.answer()
		if pending == 0 {
			return false
		}
		if sendable && time.Now().Before(s.last) {
			return true
		}
		select {
		case <-s.wake:
			continue
		case <-s.timer.C:
		}
		s.mu.Lock()
		c.timeOut(view, s)
		s.mu.Unlock()
	}
}

// rest lets some time pass. Parts that are done meanwhile do not wait for it.
func (b *Batch) rest(pause time.Duration) {
	timer := time.NewTimer(pause)
	defer timer.Stop()
	for {
		select {
		case <-b.state.wake:
			b.answer()
		case <-timer.C:
			return
		}
	}
}

// pause is how long to wait before sending again: not at all the first time, then
// longer and longer, since whoever refuses needs a moment.
func (s *batchState) pause() time.Duration {
	tries := uint8(0)
	for i := range s.ops {
		if st := &s.ops[i]; st.phase == opReady {
			tries = max(tries, st.tries, st.delays)
		}
	}
	if tries < 2 {
		return 0
	}
	return min(time.Millisecond<<min(tries-2, 6), 20*time.Millisecond)
}
