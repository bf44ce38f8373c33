//go:build unix

package differential

import (
	"strings"

	"github.com/quolldb/quoll/internal/command"
)

// sortKey is the key that is sorted. Nobody writes a sorted set there: Redis makes a large one of each that it sorts, which it shows in other ways than small ones.
const sortKey = "{sorted}"

// sort draws SORT and SORT_RO. Nothing is stored, mostly: what Redis puts in any order would be there in another one.
func (g *generator) sort() []string {
	args := []string{sortKey}
	for range g.intn(5) {
		args = append(args, pick(g, []string{g.word("ASC")}, []string{g.word("DESC")}, []string{g.word("DESC")}, []string{g.word("ALPHA")}, []string{g.word("ALPHA")},
			[]string{g.word("LIMIT"), g.index(), g.index()}, []string{g.word("BY"), pick(g, "nosort", "", "#", "{sorted}w_*")}, []string{g.word("GET"), pick(g, "#", "#", "x", "{sorted}w_*->f")},
			[]string{pick(g, "LIMIT", "BY", "GET", "STORE", "")})...)
	}
	return args
}

// sameSorting reports whether two replies of SORT differ as they may: other keys are in one slot, what is equal up to a zero byte or has no weight is in any order in Redis, and after it has
// met one number that is out of range it takes all for such, for a while.
func sameSorting(x exchange, redis, quoll value) bool {
	if cmd := command.Lookup([]byte(x.args[0])); cmd == nil || cmd.Op != command.OpSort && cmd.Op != command.OpSortRO {
		return false
	}
	switch {
	case strings.HasPrefix(quoll.text, "CROSSSLOT a script, or SORT"):
		return redis.kind == '*'
	case quoll.kind != '*':
		return false
	}
	return strings.HasPrefix(redis.text, "ERR One or more scores can't be converted") || (strings.Contains(x.quoll, "\x00") || command.SortLooksUp(arguments(x.args))) && redis.shape() == quoll.shape()
}
