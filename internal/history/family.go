package history

import (
	"slices"
	"strings"
)

// family is what a key holds, or what a command wants it to hold.
type family int

const (
	texts family = iota
	hashes
	lists
	sets
	sortedSets
	anything // of commands that take a key as it is
)

// families are those of the commands that refuse what is of another one.
var families = func() map[Kind]family {
	all := map[Kind]family{}
	for of, kinds := range map[family][]Kind{
		texts:      {Get, GetSet, Append, Incr, GetEX, GetDel},
		hashes:     {HSet, HSetNX, HGet, HMGet, HGetAll, HDel, HIncr},
		lists:      {RPush, LPush, RPop, LPop, LMove, LRem, LTrim, LRange},
		sets:       {SAdd, SRem, SPop, SIsMember, SMembers},
		sortedSets: {ZAdd, ZIncr, ZRem, ZPopMin, ZScore, ZRange},
	} {
		for _, kind := range kinds {
			all[kind] = of
		}
	}
	return all
}()

func (k Kind) family() family {
	if of, refuses := families[k]; refuses {
		return of
	}
	return anything
}

// collects reports whether it is one of lists, sets or sorted sets, whose commands name elements.
func (f family) collects() bool { return f == lists || f == sets || f == sortedSets }

// whole are the commands that show all that a key holds.
var whole = [anything]Kind{texts: Get, hashes: HGetAll, lists: LRange, sets: SMembers, sortedSets: ZRange}

// Whole returns the command that shows all that a key holds, most of the time, of those that Draw draws for it.
func Whole(key string) Command { return Command{Kind: whole[drawnFamily(key)], Key: key} }

// ordered returns a reply in which what Redis gives in any order has one.
func (k Kind) ordered(reply string) string {
	switch {
	case reply == WrongType:
	case k == HGetAll:
		return string(Hash(reply).Sorted())
	case k == SMembers:
		return strings.Join(slices.Sorted(strings.FieldsSeq(reply)), " ")
	}
	return reply
}
