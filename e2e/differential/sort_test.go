//go:build unix

package differential

import (
	"strconv"
	"strings"

	"github.com/quolldb/quoll/internal/command"
)

// sortKey is the key that is sorted. Nobody writes a sorted set there: Redis makes a large one of each that it sorts, which it shows in other ways than small ones.
const sortKey = "sorted"

// sort draws SORT and SORT_RO. Nothing is stored, mostly: what Redis puts in any order would be there in another one.
func (g *generator) sort() []string {
	args := []string{sortKey}
	for range g.intn(5) {
		args = append(args, pick(g, []string{g.word("ASC")}, []string{g.word("DESC")}, []string{g.word("DESC")}, []string{g.word("ALPHA")}, []string{g.word("ALPHA")},
			[]string{g.word("LIMIT"), g.index(), g.index()}, []string{g.word("BY"), pick(g, "nosort", "", "#", "w_*")}, []string{g.word("GET"), pick(g, "#", "#", "x", "w_*->f")},
			[]string{pick(g, "LIMIT", "BY", "GET", "STORE", "")})...)
	}
	return args
}

// refusalOfSort returns the reply that Quoll must give to SORT that would store what it finds by a pattern, "" if it would not, or Redis refuses something.
func refusalOfSort(args []string) string {
	stores, names := false, false
	for rest := args[2:]; len(rest) > 0; rest = rest[1:] {
		option := strings.ToUpper(rest[0])
		switch {
		case option == "ASC", option == "DESC", option == "ALPHA":
		case option == "LIMIT" && len(rest) > 2:
			for _, number := range rest[1:3] {
				if n, err := strconv.ParseInt(number, 10, 64); err != nil || strconv.FormatInt(n, 10) != number {
					return ""
				}
			}
			rest = rest[2:]
		case option == "STORE" && len(rest) > 1:
			stores, rest = true, rest[1:]
		case (option == "BY" || option == "GET") && len(rest) > 1:
			pattern, _, _ := strings.Cut(rest[1], "\x00")
			names, rest = names || strings.Contains(pattern, "*"), rest[1:]
		default:
			return ""
		}
	}
	if stores && names {
		return refusedPattern
	}
	return ""
}

const refusedPattern = "-ERR BY and GET of SORT are not supported by Quoll with a pattern that names other keys, which may be on other nodes; nothing was done\r\n"

// sameSorting reports whether two replies of SORT differ as they may: other keys are not looked at, what is equal up to a zero byte is in any order in Redis, and after it has
// met one number that is out of range it takes all for such, for a while.
func sameSorting(x exchange, redis, quoll value) bool {
	if cmd := command.Lookup([]byte(x.args[0])); cmd == nil || cmd.Op != command.OpSort && cmd.Op != command.OpSortRO {
		return false
	}
	switch {
	case x.quoll == refusedPattern:
		return redis.kind == '*' || x.refused != "" || strings.HasPrefix(redis.text, "WRONGTYPE") || strings.HasPrefix(redis.text, "ERR One or more scores")
	case quoll.kind != '*':
		return false
	}
	return strings.HasPrefix(redis.text, "ERR One or more scores can't be converted") || strings.Contains(x.quoll, "\x00") && redis.shape() == quoll.shape()
}
