package replica

import (
	"sync"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/ring"
)

// mostAway is how many batches are evaluated at a time while their slots go on. They take the processors that commands need, too.
const mostAway = 2

// evaluations are the batches that are evaluated by goroutines of their own, or wait for one: as many as there are requests at most.
type evaluations struct {
	mu      sync.Mutex
	waiting []*register.Evaluation
	running map[*register.Evaluation]struct{}
	closed  bool
	wait    sync.WaitGroup
}

// add has something done with a batch, now or when fewer are under way.
func (a *evaluations) add(e *register.Evaluation, do func(*register.Evaluation)) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.waiting = append(a.waiting, e); len(a.running) == mostAway {
		return
	}
	if e := a.next(nil); e != nil {
		a.wait.Go(func() {
			for ; e != nil; e = a.after(e) {
				do(e)
			}
		})
	}
}

// after is next, for who has not locked it.
func (a *evaluations) after(e *register.Evaluation) *register.Evaluation {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.next(e)
}

// next takes the batch that is next after one, or after none, nil if there is none.
func (a *evaluations) next(after *register.Evaluation) *register.Evaluation {
	delete(a.running, after)
	for len(a.waiting) > 0 && !a.closed {
		e := a.waiting[0]
		if a.waiting = a.waiting[1:]; e.Dropped() {
			continue
		}
		if a.running == nil {
			a.running = make(map[*register.Evaluation]struct{})
		}
		a.running[e] = struct{}{}
		return e
	}
	return nil
}

// close ends all, and waits for those that are under way.
func (a *evaluations) close() {
	a.mu.Lock()
	a.closed, a.waiting = true, nil
	for e := range a.running {
		e.Drop()
	}
	a.mu.Unlock()
	a.wait.Wait()
}

// evaluate has a batch evaluated, while its slot goes on.
func (h *Host) evaluate(e *register.Evaluation) {
	h.away.add(e, func(e *register.Evaluation) {
		if e.Run(); !e.Dropped() {
			h.evaluated(e)
		}
	})
}

// evaluated tells a home what came of a batch.
func (h *Host) evaluated(e *register.Evaluation) {
	round := h.Begin()
	s := h.Lock(e.Slot, round)
	if sl, err := s.Slot(e.Slot); err == nil {
		round.in.Evaluation = e
		s.step(e.Slot, sl, register.Evaluated)
		round.in.Evaluation = nil
	}
	s.Unlock()
	round.Flush()
}

// Close ends the batches that are evaluated while their slots go on: nobody hears what comes of them.
func (h *Host) Close() { h.away.close() }

// LendApart is Lend for who has no slot locked.
func (h *Host) LendApart(req *command.Request) {
	if req.Op == command.OpObjectState && len(req.Args) > 1 {
		defer h.Lock(ring.SlotOf(req.Args[1]), nil).Unlock()
	}
	h.Lend(req)
}
