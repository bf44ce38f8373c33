package history

import (
	"fmt"
	"maps"
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
	// Overlaps are pairs of operations on one key that two clients had under way at the same time, of which one at least is a write: they make a
	// history worth checking. Those that were never answered do not count.
	Overlaps int
	// Undecided are the keys for which the checker ran out of time: neither right nor wrong.
	Undecided []string
	// Violations are the keys whose history no register explains.
	Violations []Violation
}

// Violation is a key whose history is not linearizable.
type Violation struct {
	Key string
	// Shortest is the shortest history that could be found to show it, in the order of
	// the calls.
	Shortest []Operation
	// Of is how many operations on the key there were.
	Of int
}

// String is the shortest history, one operation a line, with the times in
// microseconds since the recorder began.
func (v Violation) String() string {
	return fmt.Sprintf("key %s, the shortest wrong history (%d of %d operations):\n%s", v.Key, len(v.Shortest), v.Of, show(v.Shortest))
}

// Err is nil if every key was proved linearizable.
func (r Result) Err() error {
	switch {
	case len(r.Violations) > 0:
		return fmt.Errorf("history: %d of %d keys are not linearizable; the first of them:\n%v", len(r.Violations), r.Keys, r.Violations[0])
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

// Check decides key by key, with at most perKey for each. Violations are made short,
// which may take some times that. Journals are not its
// business. No operation may be under way.
func (r *Recorder) Check(perKey time.Duration) Result {
	r.mu.Lock()
	defer r.mu.Unlock()
	var result Result
	for _, key := range slices.Sorted(maps.Keys(r.ops)) {
		if r.journals[key] {
			continue
		}
		ops := r.ops[key]
		result.Keys++
		result.Operations += len(ops)
		result.Overlaps += overlaps(ops)
		for _, op := range ops {
			if op.Unknown {
				result.Unknown++
			}
		}
		switch decide(r.model(), ops, perKey) {
		case porcupine.Unknown:
			result.Undecided = append(result.Undecided, key)
		case porcupine.Illegal:
			result.Violations = append(result.Violations, Violation{key, shortest(r.model(), ops, perKey), len(ops)})
		}
	}
	return result
}

// overlaps counts the pairs for Result.
func overlaps(ops []Operation) (n int) {
	for i := range ops {
		for j := range i {
			a, b := &ops[i], &ops[j]
			reads := a.Kind.Reads() && b.Kind.Reads()
			if !reads && !a.Unknown && !b.Unknown && a.Client != b.Client && a.Call < b.Return && b.Call < a.Return {
				n++
			}
		}
	}
	return n
}

// reply is what the client knows, for people.
func (o *Operation) reply() string {
	if o.Unknown {
		return "?"
	}
	return strings.ReplaceAll(o.Reply, padding, "~")
}

// show lists operations, one a line.
func show(ops []Operation) string {
	var text strings.Builder
	for i := range ops {
		o, ended := &ops[i], "never"
		if o.Return != Never {
			ended = fmt.Sprint(o.Return / 1000)
		}
		pipeline := ""
		if o.Pipeline != 0 {
			pipeline = fmt.Sprintf("  (pipeline %d, place %d)", o.Pipeline, o.Place)
		}
		fmt.Fprintf(&text, "%10d - %10s  client %-3d %v -> %s%s\n", o.Call/1000, ended, o.Client, o.Command, o.reply(), pipeline)
	}
	return text.String()
}
