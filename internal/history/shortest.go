package history

import (
	"cmp"
	"slices"
	"sort"
	"time"

	"github.com/anishathalye/porcupine"
)

// shortest makes a history that is not linearizable shorter and keeps it so: first it
// is cut off at the earliest moment at which it was wrong already, then go the operations without effect
// whose absence leaves it wrong. Both only ever take constraints away, so what remains wrong
// proves that the whole is. What the checker cannot decide within the given time stays.
func shortest(model porcupine.Model, ops []Operation, within time.Duration) []Operation {
	wrong := func(ops []Operation) bool { return decide(model, ops, within) == porcupine.Illegal }
	ops = slices.SortedFunc(slices.Values(ops), func(a, b Operation) int { return cmp.Compare(a.Call, b.Call) })

	var returns []int64
	for _, op := range ops {
		if op.Return != Never {
			returns = append(returns, op.Return)
		}
	}
	slices.Sort(returns)
	// A history that is wrong at some time is wrong for ever after.
	if i := sort.Search(len(returns), func(i int) bool { return wrong(until(ops, returns[i])) }); i < len(returns) {
		ops = until(ops, returns[i])
	}
	for i := len(ops) - 1; i >= 0; i-- {
		if ops[i].noEffect() {
			if without := slices.Delete(slices.Clone(ops), i, i+1); wrong(without) {
				ops = without
			}
		}
	}
	return ops
}

// until is the history as it was at a moment: what returned later is under way, what
// began later is not there.
func until(ops []Operation, moment int64) []Operation {
	var result []Operation
	for _, op := range ops {
		switch {
		case op.Return <= moment:
			result = append(result, op)
		case op.Call <= moment && op.Kind != Get: // a read under way says nothing
			result = append(result, op.opened())
		}
	}
	return result
}
