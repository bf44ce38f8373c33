package datatype

import (
	"bytes"
	"cmp"
	"iter"
	"math"
	"math/big"
	"slices"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// sorting is what SORT and SORT_RO are told.
type sorting struct {
	desc, alpha   bool
	asTheyAre     bool   // BY a pattern that names no key: nothing is sorted
	offset, limit int64  // the limit is none if it is negative
	by            []byte // a pattern that names other keys, nil if elements are sorted by themselves
	gets          []sortGet
	into          []byte // the key that the result is stored under, nil if it is replied
	names         bool   // there are patterns that name other keys
	// look looks up a pattern for an element. It is nil where there are no other keys.
	look func(pattern, element []byte) (value []byte, found bool)
}

// sortWritable serves SORT that stores nothing: see sortMay.
func sortWritable(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	return sortIn(dst, st, req, false)
}

// sortReadOnly serves SORT_RO.
func sortReadOnly(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	return sortIn(dst, st, req, true)
}

func sortIn(dst []byte, st record.State, req *command.Request, readOnly bool) ([]byte, record.Effect) {
	var s sorting
	problem := s.parse(req.Args[2:], readOnly)
	switch {
	case problem != "":
		return refuse(dst, problem)
	case s.names:
		return refuse(dst, errSortPattern)
	case s.into != nil:
		return refuse(dst, errSortStore)
	}
	return s.answer(dst, st, req.RESP3)
}

// answer sorts a value, and appends what is asked for, or an error.
func (s *sorting) answer(dst []byte, st record.State, resp3 bool) ([]byte, record.Effect) {
	elements, n, problem := s.find(st)
	if problem != "" {
		return refuse(dst, problem)
	}
	from, to := s.ranks(n)
	return s.reply(dst, elements, from, to, resp3)
}

// find returns all elements of a value in the order that is asked for, and how many there are. problem is an error text, which is empty if all is well.
func (s *sorting) find(st record.State) (elements iter.Seq[[]byte], n int, problem string) {
	if st.Live() && st.Type != record.List && st.Type != record.Set && st.Type != record.SortedSet {
		return nil, 0, errWrongType
	}
	elements, n = s.elementsOf(st)
	if s.asTheyAre {
		return elements, n, ""
	}
	if st.Size() > maxReply {
		return nil, 0, errMuchSort
	}
	sorted, ok := s.sorted(elements, n)
	if !ok {
		return nil, 0, errSortNumber
	}
	return slices.Values(sorted), n, ""
}

// parse reads the options, and returns an error text, which is empty if all is well.
func (s *sorting) parse(args [][]byte, readOnly bool) (problem string) {
	s.limit = -1
	for ; len(args) > 0; args = args[1:] {
		switch arg := args[0]; {
		case isWord(arg, "asc"):
			s.desc = false
		case isWord(arg, "desc"):
			s.desc = true
		case isWord(arg, "alpha"):
			s.alpha = true
		case isWord(arg, "limit") && len(args) > 2:
			var ok bool
			if s.offset, s.limit, ok = parseInts(args[1], args[2]); !ok {
				return errNotInteger
			}
			args = args[2:]
		case isWord(arg, "store") && !readOnly && len(args) > 1:
			s.into = args[1]
			args = args[1:]
		case isWord(arg, "by") && len(args) > 1:
			if s.by = nil; command.IsSortPattern(args[1]) {
				s.by, s.names = args[1], true
			} else {
				s.asTheyAre = true // even if a pattern comes behind it
			}
			args = args[1:]
		case isWord(arg, "get") && len(args) > 1:
			get := sortGet{itself: string(command.UntilZero(args[1])) == "#"}
			if command.IsSortPattern(args[1]) {
				get.pattern, s.names = args[1], true
			}
			s.gets = append(s.gets, get)
			args = args[1:]
		default:
			return errSyntax
		}
	}
	return ""
}

// ranks returns the ranks [from, to) of n elements that the reply has.
func (s *sorting) ranks(n int) (from, to int) {
	from = int(min(max(s.offset, 0), int64(n)))
	if s.limit < 0 {
		return from, n
	}
	return from, from + int(min(s.limit, int64(n-from)))
}

// elementsOf returns the elements of a value, in its order or, if nothing is to be sorted, in the one that is asked for, and how many there are. A set has none.
func (s *sorting) elementsOf(st record.State) (elements iter.Seq[[]byte], n int) {
	back := s.asTheyAre && s.desc
	switch st.Type {
	case record.List:
		l := listIn(st)
		if back {
			return l.back(), l.count()
		}
		return l.from(0), l.count()
	case record.Set:
		m := membersIn(st)
		return func(yield func([]byte) bool) {
			for member := range m.all() {
				if !yield(member) {
					return
				}
			}
		}, m.count()
	case record.SortedSet:
		z := zsetIn(st)
		return func(yield func([]byte) bool) {
			for scored := range z.span(0, z.count(), back) {
				if !yield(scored.member) {
					return
				}
			}
		}, z.count()
	}
	return func(func([]byte) bool) {}, 0
}

// sorted returns n elements in order. It reports false if one of them would have to be a number, and is none. Equal numbers are in the order of what they are
// written as.
func (s *sorting) sorted(elements iter.Seq[[]byte], n int) (list [][]byte, ok bool) {
	all := make([]sorted, 0, n)
	for element := range elements {
		next := sorted{scored: scored{member: element}, weight: element, looked: true}
		if s.by != nil {
			next.weight, next.looked = s.look(s.by, element)
		}
		if !s.alpha && next.looked {
			if next.score, ok = parseSortNumber(next.weight); !ok {
				return nil, false
			}
		}
		all = append(all, next)
	}
	slices.SortStableFunc(all, func(a, b sorted) int {
		if s.desc {
			a, b = b, a
		}
		if s.alpha { // what has the same weight is in any order in Redis
			return compareLooked(a, b)
		}
		return cmp.Or(cmp.Compare(a.score, b.score), bytes.Compare(a.member, b.member))
	})
	list = make([][]byte, len(all))
	for i := range all {
		list[i] = all[i].member
	}
	return list, true
}

// parseSortNumber reads a number as SORT does: what C's strtod reads up to a zero byte, behind spaces, or nothing at all. strtod complains of what is too large, and of
// what is so small that digits are lost.
func parseSortNumber(b []byte) (float64, bool) {
	if b = command.UntilZero(b); len(b) == 0 {
		return 0, true
	}
	b = bytes.TrimLeft(b, " \t\n\v\f\r")
	f, exact, ok := parseDouble(b)
	if !ok || !exact {
		return 0, false
	}
	const smallestNormal = 0x1p-1022
	if f != 0 && math.Abs(f) < smallestNormal {
		return f, isExactly(b, f)
	}
	return f, true
}

// isExactly reports whether a number that was read as f is f, and not only near it. It takes no time for long ones, which no smallest number needs.
func isExactly(number []byte, f float64) bool {
	const longest = 2000
	if len(number) > longest {
		return false
	}
	text := string(number)
	if bytes.ContainsAny(number, "xX") && !bytes.ContainsAny(number, "pP") {
		text += "p0" // Go wants it
	}
	exact, ok := new(big.Rat).SetString(text)
	return ok && exact.Cmp(new(big.Rat).SetFloat64(f)) == 0
}

// sorted is an element with what it is sorted by.
type sorted struct {
	scored
	weight []byte
	looked bool // the weight was found
}

// wanted returns what is asked for of each element.
func (s *sorting) wanted() []sortGet {
	if len(s.gets) == 0 {
		return []sortGet{{itself: true}}
	}
	return s.gets
}

// reply appends what is asked for of the elements with ranks of [from, to), or an error if that is too long.
func (s *sorting) reply(dst []byte, elements iter.Seq[[]byte], from, to int, resp3 bool) ([]byte, record.Effect) {
	gets := s.wanted()
	start, rank := len(dst), -1
	dst = resp.AppendArray(dst, (to-from)*len(gets))
	for element := range elements {
		if rank++; rank >= to {
			break
		}
		for i := range gets {
			if rank < from {
				break
			}
			if value, found := s.looked(&gets[i], element); found {
				dst = resp.AppendBulk(dst, value)
			} else {
				dst = resp.AppendNull(dst, resp3)
			}
			if len(dst)-start > maxReply {
				return refuse(dst[:start], errMuchReply)
			}
		}
	}
	return dst, noEffect
}
