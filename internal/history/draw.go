package history

import (
	"hash/fnv"
	"math/rand/v2"
	"strconv"
	"strings"
)

var (
	drawn = []Kind{Get, Get, Get, Get, Set, Incr, Incr, Append, Del, SetNX, GetSet, PSetEX, PSetEX, PExpire, Persist, GetEX, GetDel}
	// drawnOnHash has some that make something else of the hash, and some that find something else then.
	drawnOnHash = []Kind{HGet, HGet, HGet, HMGet, HMGet, HGetAll, HGetAll, HGetAll, HSet, HSet, HSet, HSet, HSet, HSetNX, HIncr, HIncr, HIncr, HDel, HDel,
		Del, Del, PExpire, Persist, Set, Get, SetNX}
)

// padding makes a value long. Changes of a hash with a long field travel as deltas.
var padding = strings.Repeat("~", 300)

// wide is the field whose values are long.
const wide = "wide"

// Draw returns a random command whose value, if it has one, is unique. Of the keys every third is a hash, most of the time. place, below 10, tells
// apart commands with one serial number.
func Draw(key string, serial int64, place int) Command {
	return DrawBy(rand.New(anyNumber{}), key, serial, place)
}

// anyNumber is a source of random numbers that differ each time.
type anyNumber struct{}

func (anyNumber) Uint64() uint64 { return rand.Uint64() }

// DrawBy is Draw with random numbers of the caller's.
func DrawBy(random *rand.Rand, key string, serial int64, place int) Command {
	kinds := drawn
	if IsHash(key) {
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
	return command
}

// IsHash reports whether a key is a hash, most of the time, in what Draw draws.
func IsHash(key string) bool {
	h := fnv.New32a()
	_, _ = h.Write([]byte(key))
	return h.Sum32()%3 == 0
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
