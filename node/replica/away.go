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
	running int
	closed  bool
	wait    sync.WaitGroup
}

// evaluate has a batch evaluated, while its slot goes on.
func (h *Host) evaluate(e *register.Evaluation) {
	a := &h.away
	a.mu.Lock()
	defer a.mu.Unlock()
	switch {
	case a.closed:
	case a.running == mostAway:
		a.waiting = append(a.waiting, e)
	default:
		a.running++
		a.wait.Go(func() { h.evaluateAll(e) })
	}
}

// evaluateAll evaluates a batch, and then those that wait.
func (h *Host) evaluateAll(e *register.Evaluation) {
	for ; e != nil; e = h.away.next() {
		e.Run()
		if !e.Dropped() {
			h.evaluated(e)
		}
	}
}

// next takes the next batch that waits, nil if none does.
func (a *evaluations) next() *register.Evaluation {
	a.mu.Lock()
	defer a.mu.Unlock()
	for len(a.waiting) > 0 && !a.closed {
		e := a.waiting[0]
		if a.waiting = a.waiting[1:]; !e.Dropped() {
			return e
		}
	}
	a.running--
	return nil
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

// Close waits for the batches that are evaluated while their slots go on. Those that wait for that are not evaluated any more.
func (h *Host) Close() {
	h.away.mu.Lock()
	h.away.closed = true
	h.away.mu.Unlock()
	h.away.wait.Wait()
}

// LendApart is Lend for who has no slot locked.
func (h *Host) LendApart(req *command.Request) {
	if req.Op == command.OpObjectState && len(req.Args) > 1 {
		defer h.Lock(ring.SlotOf(req.Args[1]), nil).Unlock()
	}
	h.Lend(req)
}
