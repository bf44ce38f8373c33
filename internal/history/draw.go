package history

import (
	"hash/fnv"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

var (
	drawn = []Kind{Get, Get, Get, Get, Set, Incr, Incr, Append, Del, SetNX, GetSet, PSetEX, PSetEX, PExpire, Persist, GetEX, GetDel}
	// drawnOnHash has some that make something else of the hash, and some that find something else then.
	drawnOnHash = []Kind{HGet, HGet, HGet, HMGet, HMGet, HGetAll, HGetAll, HGetAll, HSet, HSet, HSet, HSet, HSet, HSetNX, HIncr, HIncr, HIncr, HDel, HDel,
		Del, Del, PExpire, Persist, Set, Get, SetNX}

	// Elements are to stay, so few of these end all of them at once.
	drawnOnElements = [anything][]Kind{
		lists: {RPush, RPush, RPush, RPush, RPush, RPush, LPush, LPush, LPop, LPop, LPop, LPop, RPop, LMove, LMove, LRem, LTrim, LRange, LRange, LRange,
			Get, SetNX, PExpire, Persist, Del},
		sets: {SAdd, SAdd, SAdd, SAdd, SAdd, SAdd, SAdd, SRem, SPop, SPop, SPop, SPop, SIsMember, SIsMember, SMembers, SMembers, SMembers,
			Get, SetNX, PExpire, Persist, Del},
		sortedSets: {ZAdd, ZAdd, ZAdd, ZAdd, ZAdd, ZAdd, ZIncr, ZIncr, ZIncr, ZRem, ZPopMin, ZPopMin, ZPopMin, ZScore, ZScore, ZRange, ZRange, ZRange,
			Get, SetNX, PExpire, Persist, Del},
	}
)

// members are elements that are added and removed again and again. All others are unique.
var members = []string{"m", "n"}

// padding makes a value long. Changes of a hash with a long field travel as deltas.
var padding = strings.Repeat("~", 300)

// wide is the field whose values are long.
const wide = "wide"

// Draw returns a random command whose value, if it has one, is unique. Of the keys every third is a hash, most of the time, and every ninth a list, a set or a
// sorted set. place, below 10, tells apart commands with one serial number.
func Draw(key string, serial int64, place int) Command {
	return DrawBy(rand.New(anyNumber{}), key, serial, place)
}

// anyNumber is a source of random numbers that differ each time.
type anyNumber struct{}

func (anyNumber) Uint64() uint64 { return rand.Uint64() }

// DrawBy is Draw with random numbers of the caller's.
func DrawBy(random *rand.Rand, key string, serial int64, place int) Command {
	of := drawnFamily(key)
	kinds := drawnOnElements[of]
	switch of {
	case texts:
		kinds = drawn
	case hashes:
		kinds = drawnOnHash
	}
	command := Command{Kind: kinds[random.IntN(len(kinds))], Key: key}
	switch command.Kind {
	case Set, SetNX, GetSet, PSetEX, HSet, HSetNX:
		command.Arg = strconv.FormatInt((serial*10+int64(place))*1000, 10) // Incr does not reach the next one
	case Append:
		command.Arg = strconv.FormatInt(serial*10+int64(place), 10)
	}
	switch command.Kind {
	case PSetEX, PExpire, GetEX:
		command.TTL = 1 + random.Int64N(300)
	}
	command.drawField(random)
	command.DrawElement(random, strconv.FormatInt(serial*10+int64(place), 10))
	return command
}

// drawnFamily is what a key holds, most of the time, in what Draw draws.
func drawnFamily(key string) family {
	h := fnv.New32a()
	_, _ = h.Write([]byte(key))
	switch of := h.Sum32(); of % 3 {
	case 0:
		return hashes
	case 1:
		return []family{lists, sets, sortedSets}[of/3%3]
	}
	return texts
}

// DrawElement draws what a command on a list, set or sorted set names: an element with a word in it that no other command of the history is given, or
// one of those that are added and removed again and again. Of other commands it changes nothing.
func (c *Command) DrawElement(random *rand.Rand, unique string) {
	switch c.Kind {
	case RPush, LPush, SAdd, ZAdd:
		c.Arg = unique
		switch random.IntN(8) {
		case 0, 1:
			c.Arg += padding
		case 2:
			c.Arg = members[random.IntN(len(members))]
		case 3, 4:
			if c.Kind != ZAdd {
				c.Arg += " " + unique + "b"
			}
		}
	case LRem, SRem, SIsMember, ZIncr, ZRem, ZScore:
		c.Arg = members[random.IntN(len(members))]
	}
	if c.Kind == ZAdd {
		c.Score = random.Int64N(9)
	}
}

// TakesAny reports whether the command's value, the last one of several, may be any other: nothing depends on what it is.
func (c Command) TakesAny() bool {
	switch c.Kind {
	case HSet, HSetNX:
		return c.Field == wide
	case Set, SetNX, GetSet, Append, PSetEX, RPush, LPush, SAdd, ZAdd:
		return !slices.Contains(members, c.Arg)
	}
	return false
}

// drawField draws the fields of a command on a hash.
func (c *Command) drawField(random *rand.Rand) {
	one := []string{"f", "g", wide}
	several := append([]string{"f g", "f g " + wide}, one...)
	switch c.Kind {
	case HGet, HSetNX:
		c.Field = one[random.IntN(len(one))]
	case HIncr:
		c.Field = one[random.IntN(2)]
	case HMGet, HDel:
		c.Field = several[random.IntN(len(several))]
	case HSet:
		c.Field = []string{"f", "g", "f g", wide}[random.IntN(4)]
	}
	if c.Field == wide && c.Arg != "" {
		c.Arg += padding
	}
}
