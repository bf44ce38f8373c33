package history

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// Result is what Check found.
type Result struct {
	// Keys and Operations count what was checked; Unknown the writes among them whose
	// outcome no client knows.
	Keys, Operations, Unknown int
	// Undecided are the keys for which the checker ran out of time: neither right nor wrong.
	Undecided []string
	// Violations are the histories of keys that no register explains, one operation a line.
	Violations []string
}

// Err is nil if every key was proved linearizable.
func (r Result) Err() error {
	switch {
	case len(r.Violations) > 0:
		return fmt.Errorf("history: %d of %d keys are not linearizable; the first of them:\n%s", len(r.Violations), r.Keys, r.Violations[0])
	case len(r.Undecided) > 0:
		return fmt.Errorf("history: the checker ran out of time for %d of %d keys (%s): nothing is known about them",
			len(r.Undecided), r.Keys, strings.Join(r.Undecided, " "))
	}
	return nil
}

// String gives the numbers.
func (r Result) String() string {
	return fmt.Sprintf("%d operations on %d keys, %d writes of unknown outcome: %d keys not linearizable, %d undecided",
		r.Operations, r.Keys, r.Unknown, len(r.Violations), len(r.Undecided))
}

// Check decides key by key, with at most perKey for each. No operation may be under way.
func (r *Recorder) Check(perKey time.Duration) Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	result := Result{Keys: len(r.ops)}
	for key, ops := range r.ops {
		result.Operations += len(ops)
		for _, op := range ops {
			if op.Output == unknown {
				result.Unknown++
			}
		}
		switch porcupine.CheckOperationsTimeout(register, ops, perKey) {
		case porcupine.Unknown:
			result.Undecided = append(result.Undecided, key)
		case porcupine.Illegal:
			result.Violations = append(result.Violations, show(ops))
		}
	}
	return result
}

// show lists a key's operations in the order of their calls, in microseconds since
// the recorder began.
func show(ops []porcupine.Operation) string {
	ops = slices.SortedFunc(slices.Values(ops), func(a, b porcupine.Operation) int { return cmp.Compare(a.Call, b.Call) })
	var text strings.Builder
	for _, op := range ops {
		c, ended := op.Input.(Command), "never"
		if op.Return != math.MaxInt64 {
			ended = fmt.Sprint(op.Return / 1000)
		}
		fmt.Fprintf(&text, "%9d - %9s  %s\n", op.Call/1000, ended, strings.Join(strings.Fields(fmt.Sprint(c.Kind, " ", c.Key, " ", c.Arg, " -> ", op.Output)), " "))
	}
	return text.String()
}
