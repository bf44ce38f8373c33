package history

import (
	"slices"
	"strings"
	"time"

	"github.com/anishathalye/porcupine"
)

// decide asks Porcupine whether a model explains the operations of one key. Every operation of unknown
// outcome doubles what there is to search, and few of them took effect. Since one that did not is no
// constraint, a history that is right without some of them is right: so none of them is tried
// first, then those whose value somebody saw, then all.
func decide(model porcupine.Model, ops []Operation, within time.Duration) porcupine.CheckResult {
	none := slices.DeleteFunc(slices.Clone(ops), func(o Operation) bool { return o.Unknown })
	seen := slices.DeleteFunc(slices.Clone(ops), func(o Operation) bool { return o.Unknown && !anybodySaw(ops, o.Arg) })
	for _, some := range [][]Operation{none, seen} {
		if len(some) < len(ops) && porcupine.CheckOperationsTimeout(model, operations(some), within/4) == porcupine.Ok {
			return porcupine.Ok
		}
	}
	return porcupine.CheckOperationsTimeout(model, operations(ops), within)
}

// anybodySaw reports whether a value, or one of several, is part of a reply.
func anybodySaw(ops []Operation, value string) bool {
	for word := range strings.FieldsSeq(value) {
		if slices.ContainsFunc(ops, func(o Operation) bool { return strings.Contains(o.Reply, word) }) {
			return true
		}
	}
	return false
}

// operations are the operations as Porcupine takes them.
func operations(ops []Operation) []porcupine.Operation {
	result := make([]porcupine.Operation, len(ops))
	for i := range ops {
		result[i] = porcupine.Operation{Input: &ops[i], Call: ops[i].Call, Return: ops[i].Return}
	}
	return result
}
