package datatype

import (
	"math"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
)

// manyBytes is how many bytes are as much as manyElements.
const manyBytes = 1 << 20

// Lengthy reports whether a read of a large value takes long enough that others should not wait for it: it goes through many elements. It takes O(log n) itself. A state whose
// object cannot be read is not lengthy: Execute says what is wrong.
func Lengthy(st *record.State, req *command.Request) bool {
	if st.Object == nil || int(req.Op) >= len(extents) || extents[req.Op] == nil {
		return false
	}
	total := elementsIn(st)
	if total == 0 {
		return false
	}
	n := 0
	err := func() (err error) {
		defer record.Catch(&err)
		n = min(extents[req.Op](st, req, total), total)
		return nil
	}()
	return err == nil && (n > manyElements || n > 1 && st.Size()/total*n > manyBytes)
}

// elementsIn returns how many elements a large value has, 0 for a string.
func elementsIn(st *record.State) int {
	switch st.Type {
	case record.List, record.Stream:
		return listIn(*st).count()
	case record.Hash, record.Set:
		return hashIn(*st).count()
	case record.SortedSet:
		return zsetIn(*st).count()
	}
	return 0
}

// extent is how many of the elements of a value, of which there are so many in all, a read goes through. What is not known is all of them.
type extent func(st *record.State, req *command.Request, total int) int

// extents are those of all reads that may go through many. Commands that find none that fits the value's type refuse it, which takes no time.
var extents = [...]extent{
	command.OpHGetAll:  allOfThem,
	command.OpHKeys:    allOfThem,
	command.OpHVals:    allOfThem,
	command.OpSMembers: allOfThem,
	command.OpMembers:  allOfThem,
	command.OpSortRO:   allOfThem,
	command.OpDump:     allOfThem,
	command.OpLPos:     allOfThem,

	command.OpLRange:           rangeOfRanks,
	command.OpZRange:           rangeOfMembers(rangeOptions{mayRev: true}),
	command.OpZRevRange:        rangeOfMembers(rangeOptions{kind: byRank, rev: true}),
	command.OpZRangeByScore:    rangeOfMembers(rangeOptions{kind: byScore}),
	command.OpZRevRangeByScore: rangeOfMembers(rangeOptions{kind: byScore, rev: true}),
	command.OpZRangeByLex:      rangeOfMembers(rangeOptions{kind: byLex}),
	command.OpZRevRangeByLex:   rangeOfMembers(rangeOptions{kind: byLex, rev: true}),
	command.OpXRange:           countAfter(4, "count"),
	command.OpXRevRange:        countAfter(4, "count"),

	command.OpHRandField:  countAt2,
	command.OpSRandMember: countAt2,
	command.OpZRandMember: countAt2,
	command.OpHScan:       countAfter(3, "count"),
	command.OpSScan:       countAfter(3, "count"),
	command.OpZScan:       countAfter(3, "count"),
}

func allOfThem(_ *record.State, _ *command.Request, total int) int { return total }

// rangeOfRanks is the extent of LRANGE.
func rangeOfRanks(_ *record.State, req *command.Request, total int) int {
	if len(req.Args) != 4 {
		return 0
	}
	first, last, ok := parseInts(req.Args[2], req.Args[3])
	if !ok {
		return 0
	}
	from, to := ranksOf(first, last, total)
	return to - from
}

// rangeOfMembers is the extent of ZRANGE and its relatives.
func rangeOfMembers(options rangeOptions) extent {
	return func(st *record.State, req *command.Request, _ int) int {
		o := options
		if st.Type != record.SortedSet || len(req.Args) < 4 || o.parse(req.Args[4:]) != "" || o.parseEnds(req.Args[2], req.Args[3]) != "" {
			return 0
		}
		from, to := o.ranks(zsetIn(*st))
		return to - from
	}
}

// countAt2 is the extent of what draws: as many as its second argument says, or one.
func countAt2(_ *record.State, req *command.Request, _ int) int {
	if len(req.Args) < 3 {
		return 1
	}
	n, ok := parseInt(req.Args[2])
	switch {
	case !ok || n == math.MinInt64:
		return 0
	case n < 0:
		return clampToInt(-n)
	}
	return clampToInt(n)
}

// countAfter is the extent of what goes through as many as an option says, somewhere from an argument on, and without it through all of XRANGE, or a few of a SCAN.
func countAfter(first int, option string) extent {
	return func(st *record.State, req *command.Request, total int) int {
		for i := first; i+1 < len(req.Args); i++ {
			if n, ok := parseInt(req.Args[i+1]); ok && isWord(req.Args[i], option) {
				return clampToInt(max(n, 0))
			}
		}
		if st.Type == record.Stream {
			return total
		}
		return 1
	}
}

// clampToInt returns what is not negative as an int.
func clampToInt(n int64) int { return int(min(n, math.MaxInt32)) }
