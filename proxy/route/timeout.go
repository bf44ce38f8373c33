package route

import (
	"slices"
	"time"
)

// allow sets the time that the operations have from now on.
func (s *batchState) allow(now time.Time, timeout time.Duration) {
	if s.timer == nil {
		s.timer = time.NewTimer(timeout)
	} else {
		s.timer.Reset(timeout)
	}
	s.deadline, s.last = now.Add(timeout), now.Add(timeout*9/10)
}

// timeOut ends what has no outcome yet: a write that a home may have is unknown,
// all else had no effect. What a node is behind with gets more time, what may stand still for a moment as much again, and everything as much as this process stood still.
func (c *Coordinator) timeOut(view *ringView, s *batchState) {
	now := time.Now()
	left := c.cfg.SlowTimeout - now.Sub(s.begun)
	if c.ending.Load() {
		left = 0
	}
	if lost := c.pauses.total(now) - s.lost; lost > 0 && left > 0 {
		s.lost += lost
		s.allow(now, min(lost, c.cfg.OperationTimeout, left))
		return
	}
	first := !s.slow
	patient := now.Sub(s.begun)-s.lost < 2*c.cfg.OperationTimeout
	for i := range s.ops {
		switch st := &s.ops[i]; {
		case st.phase == opDone:
		case left > 0 && (s.worthWaiting(view, st, now) || patient && s.mayWake(view, st)):
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
	if st.arrives(now.Sub(s.begun)) {
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
// still for a moment only. What no home has depends on any majority.
func (s *batchState) mayWake(view *ringView, st *opState) bool {
	if st.phase == opExecuting {
		return view.waitsFor(st, (*nodeLink).mayWake)
	}
	return view.majority(st.slot) && slices.ContainsFunc(view.table.Members(st.slot), func(id uint16) bool { return view.node(id).mayWake() })
}

// waitsFor reports whether an operation that a home has depends on such a node: the home, and as long as that answers any other
// replica, since the home waits for those.
func (v *ringView) waitsFor(st *opState, such func(*nodeLink) bool) bool {
	home := v.node(st.targets[0])
	if !home.up.Load() {
		return such(home)
	}
	return slices.ContainsFunc(v.table.Members(st.slot), func(id uint16) bool { return such(v.node(id)) })
}
