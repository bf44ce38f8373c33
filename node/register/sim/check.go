package sim

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"

	"github.com/quolldb/quoll/node/register"
)

// Verdict is what a history shows.
type Verdict struct {
	// Problem says what is wrong, on one line; empty if nothing is.
	Problem string
	// Detail is the shortest history, or the list, that shows it.
	Detail string
	// Undecided: the checker ran out of time for some key, and nothing is known about it.
	Undecided bool
}

// Check judges the history after Run, with at most timeout for each key.
func (s *Sim) Check(timeout time.Duration) Verdict {
	switch {
	case len(s.violations) > 0:
		return Verdict{Problem: "breaks an invariant", Detail: strings.Join(s.violations, "\n") + "\n"}
	case len(s.overdue) > 0:
		return Verdict{Problem: "is not live", Detail: strings.Join(s.overdue, "\n") + "\n"}
	}
	var v Verdict
	model := model
	if s.weather.batches {
		model = slotModel
	}
	for _, part := range model.Partition(s.history) {
		switch decide(model, part, timeout) {
		case porcupine.Illegal:
			return Verdict{Problem: "is not linearizable", Detail: showAll(shortest(model, part, timeout))}
		case porcupine.Unknown:
			v.Undecided = true
		}
	}
	return v
}

// decide asks Porcupine about the operations of one key. An operation of unknown outcome may come in anywhere, and most did
// nothing. One that did nothing is no constraint, so a history that is right without those whose values nobody has seen is right.
func decide(model porcupine.Model, history []porcupine.Operation, timeout time.Duration) porcupine.CheckResult {
	seen := slices.DeleteFunc(slices.Clone(history), func(op porcupine.Operation) bool {
		return op.Output == unknown && !anybodySaw(history, op.Input.(cmd))
	})
	if len(seen) < len(history) && porcupine.CheckOperationsTimeout(model, seen, timeout/4) == porcupine.Ok {
		return porcupine.Ok
	}
	return porcupine.CheckOperationsTimeout(model, history, timeout)
}

// anybodySaw reports whether the command's value is part of a reply, or may be.
func anybodySaw(history []porcupine.Operation, c cmd) bool {
	return c.Name == "hincrby" || slices.ContainsFunc(history, func(op porcupine.Operation) bool {
		return op.Output != unknown && strings.Contains(op.Output.(string), c.value())
	})
}

// History shows all operations, in the order in which they began.
func (s *Sim) History() string { return showAll(s.history) }

func showAll(history []porcupine.Operation) string {
	var text strings.Builder
	for _, op := range byCall(history) {
		end := "never"
		if op.Return != math.MaxInt64 {
			end = fmt.Sprint(op.Return / 2)
		}
		fmt.Fprintf(&text, "%6d to %6s  %v -> %v\n", op.Call/2, end, op.Input, op.Output)
	}
	return text.String()
}

func byCall(history []porcupine.Operation) []porcupine.Operation {
	return slices.SortedStableFunc(slices.Values(history), func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
}

// shortest returns the shortest part of a history that is wrong in itself: up to the
// moment of the first wrong answer, and without the reads that do not matter.
func shortest(model porcupine.Model, history []porcupine.Operation, timeout time.Duration) []porcupine.Operation {
	illegal := func(h []porcupine.Operation) bool {
		return porcupine.CheckOperationsTimeout(model, h, timeout) == porcupine.Illegal
	}
	ends := make([]int64, 0, len(history))
	for _, op := range history {
		ends = append(ends, op.Return)
	}
	slices.Sort(ends)
	for _, end := range ends {
		if cut := until(history, end); illegal(cut) {
			history = cut
			break
		}
	}
	for i := 0; i < len(history); {
		rest := slices.Delete(slices.Clone(history), i, i+1)
		if history[i].Input.(cmd).reads() && illegal(rest) {
			history = rest
		} else {
			i++
		}
	}
	return history
}

// until returns what was known at a moment: what began later is left out, what ended
// later has not ended.
func until(history []porcupine.Operation, end int64) []porcupine.Operation {
	var known []porcupine.Operation
	for _, op := range history {
		switch {
		case op.Call > end:
			continue
		case op.Return > end && op.Input.(cmd).reads():
			continue
		case op.Return > end:
			op.Output, op.Return = unknown, math.MaxInt64
		}
		known = append(known, op)
	}
	return known
}

func describe(m, reply *register.Message) string {
	return fmt.Sprintf("%d -> %d  %v slot %d %s %v round %d: %v -> result %d, held %v, promised %v, floor %v",
		m.From, m.To, m.Kind, m.Slot, m.Key, m.Ballot, m.Round, m.Version, reply.Result, reply.Held, reply.Promised, reply.Floor)
}
