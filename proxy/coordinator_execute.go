package proxy

import (
	"errors"
	"slices"
	"time"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/proxy/quorum"
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
	b.begin()
	view := c.ring.Load()
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
	c.rounds(view, b)
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

// allow sets the time that the operations have from now on.
func (s *batchState) allow(now time.Time, timeout time.Duration) {
	if s.timer == nil {
		s.timer = time.NewTimer(timeout)
	} else {
		s.timer.Reset(timeout)
	}
	s.deadline, s.last = now.Add(timeout), now.Add(timeout*9/10)
}

// rounds returns when every operation has its outcome. Nothing is sent again in the
// last tenth of the time: a write whose answer did not come in time would end as unknown.
func (c *Coordinator) rounds(view *ringView, b *Batch) {
	s := &b.state
	for {
		if time.Now().Before(s.last) {
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

// timeOut ends what has no outcome yet: a write that a home may have is unknown,
// all else had no effect. What a node is behind with gets more time, and everything as much as this process stood still.
func (c *Coordinator) timeOut(view *ringView, s *batchState) {
	now := time.Now()
	left := c.cfg.SlowTimeout - now.Sub(s.begun)
	if lost := c.pauses.total(now) - s.lost; lost > 0 && left > 0 {
		s.lost += lost
		s.allow(now, min(lost, c.cfg.OperationTimeout, left))
		return
	}
	first := !s.slow
	for i := range s.ops {
		switch st := &s.ops[i]; {
		case st.phase == opDone:
		case left > 0 && (s.worthWaiting(view, st, now) || s.mayWake(view, st)):
			s.slow = true
			if first {
				c.stats.Slow.Add(1)
			}
		case st.phase == opExecuting && st.mayWrite():
			s.fail(st, ErrUnknownOutcome)
		case st.err != nil:
			s.fail(st, st.err)
		default:
			s.fail(st, ErrTimeout)
		}
	}
	s.grace = c.cfg.OperationTimeout / 2
	s.allow(now, min(s.grace, max(left, 0)))
}

// worthWaiting reports whether an operation will have an outcome, later: somebody who was asked is behind, and says so,
// or has refused it for now because too much waits there, and will be asked again. What was sent a moment ago, since it was worth it,
// has some time.
func (s *batchState) worthWaiting(view *ringView, st *opState, now time.Time) bool {
	if chain := s.chainOf(st); st.phase == opReady && chain != nil && chain.out > 0 && view.node(chain.home).link.Working() {
		return true
	}
	if s.slow && st.phase != opReady && now.Sub(s.begun)-st.sent < s.grace {
		return true
	}
	if st.phase == opExecuting {
		return view.waitsFor(st, func(l *nodeLink) bool { return l.link.Working() })
	}
	for k, id := range st.targets {
		if id == 0 || st.phase != opReady && st.waiting&(1<<k) == 0 {
			continue
		}
		if l := view.node(id); l.link.Working() || st.phase == opReady && st.err == ErrOverloaded && l.up.Load() {
			return true
		}
	}
	return false
}

// mayWake reports whether one of those that an operation depends on has been silent for less than it may take: that one may stand
// still for a moment only.
func (s *batchState) mayWake(view *ringView, st *opState) bool {
	return st.phase == opExecuting && view.waitsFor(st, func(l *nodeLink) bool { return !l.up.Load() && !l.silent() })
}

// waitsFor reports whether an operation that a home has depends on such a node: the home, and as long as that answers any other
// replica, since the home waits for those.
func (v *ringView) waitsFor(st *opState, such func(*nodeLink) bool) bool {
	home := v.node(st.targets[0])
	if !home.up.Load() {
		return such(home)
	}
	return slices.ContainsFunc(v.table.Replicas(st.slot), func(id uint16) bool { return such(v.node(id)) })
}

// send sends everything that is ready, one frame to each node.
func (c *Coordinator) send(view *ringView, b *Batch) {
	s := &b.state
	s.round++
	s.blocked = 0
	now := time.Duration(0)
	if s.slow {
		now = time.Since(s.begun)
	}
	for i := range s.ops {
		st := &s.ops[i]
		if st.phase != opReady {
			continue
		}
		if !s.turn(st) {
			continue
		}
		st.sent = now
		if st.tries > 0 {
			c.stats.Retries.Add(1)
		}
		if st.viaHome {
			c.sendToHome(view, b, int32(i))
		} else {
			c.sendRead(view, b, int32(i))
		}
	}
	for id := range s.frames {
		f := &s.frames[id]
		if len(f.buf) == 0 {
			continue
		}
		var err error
		if f.buf, err = view.node(uint16(id)).link.HandFrames(wire.EndFrame(f.buf, f.start)); err != nil {
			s.unsent(uint16(id), f.ops, err)
		}
		f.ops = f.ops[:0]
	}
}

// message appends the message for one replica to its frame.
func (s *batchState) message(view *ringView, b *Batch, i int32, id uint16, kind protocol.OpKind) {
	op, st := &b.Ops[i], &s.ops[i]
	f := s.frame(id, view.cluster.Epoch)
	f.ops = append(f.ops, i)
	f.buf = protocol.AppendOp(buffer.Reserve(f.buf, op.size()), &protocol.Op{ID: s.id<<opBits | uint64(i), Kind: kind, Except: st.except, Slot: st.slot, Req: op.Req})
}

// sendToHome sends an operation to the member that leads the slot, or should.
func (c *Coordinator) sendToHome(view *ringView, b *Batch, i int32) {
	s := &b.state
	st := &s.ops[i]
	chain := s.chainOf(st)
	var home, except uint16
	if chain != nil && chain.out > 0 { // behind the others, wherever that is
		home, except, st.hint = chain.home, chain.except, 0
	} else {
		var err *ReplyError
		if home, except, err = c.home(view, st); err != nil {
			s.fail(st, err)
			return
		}
	}
	if chain != nil {
		chain.out, chain.round, chain.home, chain.except = chain.out+1, s.round, home, except
	}
	st.phase, st.except, st.waiting, st.targets[0] = opExecuting, except, 1, home
	if b.Ops[i].Write {
		st.err = ErrUnknownOutcome // as long as the home has not said otherwise
	}
	s.ready--
	s.message(view, b, i, home, protocol.Execute)
}

// mayWrite reports whether the operation, sent to a home, may have an effect.
func (st *opState) mayWrite() bool { return st.err == ErrUnknownOutcome }

// patience is how often an operation may be turned away until it is executed by whoever it comes to: members
// that point to each other would else do so until the time is up.
const patience = 8

// home chooses the member to execute an operation: the one that a node pointed to,
// else the one that led the slot last, else the first in the ring's order that answers. except is
// the member that it is not to be sent on to: it pointed elsewhere, or does not answer this proxy.
func (c *Coordinator) home(view *ringView, st *opState) (id, except uint16, err *ReplyError) {
	replicas := view.table.Replicas(st.slot)
	if view.reachable(replicas) < quorum.Majority(len(replicas)) {
		return 0, 0, ErrNoMajority
	}
	if hint := st.hint; hint != 0 {
		st.hint = 0
		if l := view.node(hint); l != nil && l.up.Load() && view.table.Contains(st.slot, hint) {
			view.homes[st.slot].Store(uint32(hint))
			return hint, st.insist(st.hinter), nil
		}
		except = hint // this proxy cannot reach it
	}
	last := uint16(view.homes[st.slot].Load())
	if last == 0 {
		last = replicas[0]
	}
	able := func(id uint16) bool {
		return view.node(id).up.Load() && id != st.unable && st.full&replicaBit(replicas, id) == 0
	}
	if able(last) {
		return last, st.insist(except), nil
	}
	for _, id := range replicas {
		if able(id) {
			view.homes[st.slot].Store(uint32(id))
			return id, st.insist(last), nil
		}
	}
	if st.full != 0 {
		return 0, 0, ErrStorageFull
	}
	for _, id := range replicas { // nobody is well: try one that is slow
		if !view.node(id).down.Load() {
			return id, protocol.AllOthers, nil
		}
	}
	return 0, 0, ErrNoMajority
}

// insist returns the exception for an operation that was turned away so often.
func (st *opState) insist(except uint16) uint16 {
	if st.tries >= patience {
		return protocol.AllOthers
	}
	return except
}

// reachable counts the replicas that may answer in time.
func (v *ringView) reachable(replicas []uint16) int {
	n := 0
	for _, id := range replicas {
		if !v.node(id).silent() {
			n++
		}
	}
	return n
}

// sendRead asks a majority of the replicas: the home, which has the newest state,
// for the reply, the others for their version; with each further try another majority.
func (c *Coordinator) sendRead(view *ringView, b *Batch, i int32) {
	s := &b.state
	st := &s.ops[i]
	replicas := view.table.Replicas(st.slot)
	need := quorum.Majority(len(replicas))
	n := 0
	add := func(id uint16) {
		for _, have := range st.targets[:n] {
			if have == id {
				return
			}
		}
		if n < need {
			st.targets[n] = id
			n++
		}
	}
	if st.tries > 0 {
		// The home may be the one that fails.
	} else if last := uint16(view.homes[st.slot].Load()); last != 0 && view.node(last).condition() == answers {
		add(last)
	} else if view.node(replicas[0]).condition() == answers {
		add(replicas[0])
	}
	for c := answers; c <= silent; c++ {
		for k := range replicas {
			id := replicas[(k+int(st.slot)+int(st.tries))%len(replicas)] // spread over the others
			if l := view.node(id); l.condition() == c && !l.silent() {
				add(id)
			}
		}
	}
	if n < need {
		s.fail(st, ErrNoMajority)
		return
	}
	st.phase, st.votes, st.waiting = opReading, quorum.Start(len(replicas), need), 1<<need-1
	s.ready--
	for k, id := range st.targets[:need] {
		kind := protocol.ReadVersion
		if k == 0 {
			kind = protocol.ReadValue
		}
		s.message(view, b, i, id, kind)
	}
}

// unsent takes back what a link did not take: certainly nobody got it.
func (s *batchState) unsent(id uint16, ops []int32, err error) {
	for _, i := range ops {
		st := &s.ops[i]
		k := st.target(id)
		if k < 0 {
			continue
		}
		st.err = nil
		switch {
		case errors.Is(err, wire.ErrBacklog):
			s.later(st)
		case errors.Is(err, wire.ErrTooLarge):
			s.fail(st, errTooLarge)
		default:
			s.again(st)
		}
	}
}

// target returns which of the targets that have not answered a member is, -1 for none.
func (st *opState) target(id uint16) int {
	for k := range st.targets {
		if st.waiting&(1<<k) != 0 && st.targets[k] == id {
			return k
		}
	}
	return -1
}
