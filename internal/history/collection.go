package history

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// Lists, sets and sorted sets are, as hashes, texts that can be compared: elements separated by spaces, of which they have none themselves. Those of a list
// are in its order, the members of a set in that of their names. A sorted set has each member with its score behind it, in the order of ZRANGE.

// elementArgs appends what follows the key to the arguments of a command on one of them.
func (c Command) elementArgs(args []any) []any {
	switch c.Kind {
	case LRange:
		return append(args, "0", "-1")
	case ZRange:
		return append(args, "0", "-1", "WITHSCORES")
	case LTrim:
		return append(args, "1", "-1")
	case LMove:
		return append(args, c.Key, "LEFT", "RIGHT")
	case LRem, ZIncr:
		args = append(args, "1")
	case ZAdd:
		args = append(args, strconv.FormatInt(c.Score, 10))
	}
	for word := range strings.FieldsSeq(c.Arg) {
		args = append(args, word)
	}
	return args
}

// holding returns the state with a value of a family and the expiry that the key has. What is empty is gone.
func (s state) holding(of family, value string) state {
	if value == "" {
		return s.gone()
	}
	s.live, s.family, s.value = true, of, value
	return s
}

// with is holding for a value of some words.
func (s state) with(of family, words []string) state { return s.holding(of, strings.Join(words, " ")) }

// choices are the operations of which one is what happened. Of what SPop has taken an answer tells; without one it may have been any member.
func (o *Operation) choices(found state) []*Operation {
	members := []string{o.Reply}
	switch {
	case o.Kind != SPop:
		return []*Operation{o}
	case o.Unknown && found.family == sets && found.live:
		members = strings.Fields(found.value)
	}
	choices := make([]*Operation, len(members))
	for i, member := range members {
		choice := *o
		choice.Arg, choices[i] = member, &choice
	}
	return choices
}

// applyToList is apply for the commands on lists.
func applyToList(s state, o *Operation) (next state, reply string) {
	list, given := strings.Fields(s.value), strings.Fields(o.Arg)
	switch o.Kind {
	case LRange:
		return s, s.value
	case LPush:
		slices.Reverse(given)
		list = append(given, list...)
		return s.with(lists, list), strconv.Itoa(len(list))
	case RPush:
		list = append(list, given...)
		return s.with(lists, list), strconv.Itoa(len(list))
	case LRem:
		i := slices.Index(list, o.Arg)
		if i < 0 {
			return s, "0"
		}
		return s.with(lists, slices.Delete(list, i, i+1)), "1"
	case LTrim:
		return s.with(lists, list[min(1, len(list)):]), "OK"
	}
	if len(list) == 0 {
		return s, Nil
	}
	last := len(list) - 1
	switch o.Kind {
	case RPop:
		return s.with(lists, list[:last]), list[last]
	case LMove:
		return s.with(lists, append(list[1:], list[0])), list[0]
	}
	return s.with(lists, list[1:]), list[0]
}

// applyToSet is apply for the commands on sets. Arg of SPop is the member that it takes.
func applyToSet(s state, o *Operation) (next state, reply string) {
	set, changed := strings.Fields(s.value), 0
	for member := range strings.FieldsSeq(o.Arg) {
		i, found := slices.BinarySearch(set, member)
		switch {
		case o.Kind == SAdd && !found:
			set = slices.Insert(set, i, member)
			changed++
		case o.Kind != SAdd && found:
			set = slices.Delete(set, i, i+1)
			changed++
		}
	}
	switch {
	case o.Kind == SMembers:
		return s, s.value
	case o.Kind == SIsMember:
		return s, strconv.Itoa(changed)
	case o.Kind == SPop && changed == 1:
		return s.with(sets, set), o.Arg
	case o.Kind == SPop && len(set) == 0:
		return s, Nil
	case o.Kind == SPop:
		return s, "a member"
	}
	return s.with(sets, set), strconv.Itoa(changed)
}

// applyToSortedSet is apply for the commands on sorted sets.
func applyToSortedSet(s state, o *Operation) (next state, reply string) {
	members := Hash(s.value)
	score, found := members.Get(o.Arg)
	switch o.Kind {
	case ZRange:
		return s, s.value
	case ZScore:
		return s, score
	case ZPopMin:
		first := strings.Fields(s.value)
		if len(first) == 0 {
			return s, ""
		}
		return s.holding(sortedSets, string(members.Delete(first[0]))), first[0] + " " + first[1]
	case ZRem:
		if !found {
			return s, "0"
		}
		return s.holding(sortedSets, string(members.Delete(o.Arg))), "1"
	case ZIncr:
		n, _ := number(score)
		score = strconv.FormatInt(n+1, 10)
		return s.scored(members.Set(o.Arg, score)), score
	}
	if reply = "1"; found {
		reply = "0"
	}
	return s.scored(members.Set(o.Arg, strconv.FormatInt(o.Score, 10))), reply
}

// scored returns the state with a sorted set whose members are in any order.
func (s state) scored(members Hash) state {
	pairs := slices.Collect(slices.Chunk(strings.Fields(string(members)), 2))
	slices.SortFunc(pairs, func(a, b []string) int {
		m, _ := number(a[1])
		n, _ := number(b[1])
		return cmp.Or(cmp.Compare(m, n), strings.Compare(a[0], b[0]))
	})
	return s.with(sortedSets, slices.Concat(pairs...))
}
