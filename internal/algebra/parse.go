package algebra

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/quolldb/quoll/internal/resp"
)

// The operations.
type operation uint8

const (
	union operation = iota
	inter
	diff
)

// aggregate says how the scores of a member become one.
type aggregate uint8

const (
	sum aggregate = iota
	lowest
	highest
)

// Command is a command with its arguments, which it borrows.
type Command struct {
	// Keys are what it reads, in order. A key may be there several times.
	Keys [][]byte
	// Into is the key that the result is stored under, nil if it is replied.
	Into []byte

	operation operation
	scored    bool // of sorted sets
	card      bool // replies how many
	stores    bool // stores the result
	limit     int64
	weights   []float64 // nil: all are 1
	aggregate aggregate
	scores    bool // replies them
	// late is the fault of options, which Redis finds after it has looked at the types of the keys.
	late string
}

// The error texts of Redis 7.0.
const (
	errSyntax    = "ERR syntax error"
	errInteger   = "ERR value is not an integer or out of range"
	errNumKeys   = "ERR numkeys should be greater than 0"
	errManyKeys  = "ERR Number of keys can't be greater than number of args"
	errLimit     = "ERR LIMIT can't be negative"
	errWeight    = "ERR weight value is not a float"
	errDamaged   = "ERR a node has sent what is no set; proxy and node may be of different versions"
	errLongReply = "ERR the reply would be longer than 120 MiB; ask for less"
)

// names are the commands, and what they do.
var names = map[string]Command{
	"sinter":     {operation: inter},
	"sunion":     {operation: union},
	"sdiff":      {operation: diff},
	"sintercard": {operation: inter, card: true},
	"zinter":     {operation: inter, scored: true},
	"zunion":     {operation: union, scored: true},
	"zdiff":      {operation: diff, scored: true},
	"zintercard": {operation: inter, scored: true, card: true},

	"sinterstore": {operation: inter, stores: true},
	"sunionstore": {operation: union, stores: true},
	"sdiffstore":  {operation: diff, stores: true},
	"zinterstore": {operation: inter, scored: true, stores: true},
	"zunionstore": {operation: union, scored: true, stores: true},
	"zdiffstore":  {operation: diff, scored: true, stores: true},
}

// Parse reads a command, whose number of arguments is as its arity says. problem is what to reply at once if it is not empty.
func Parse(args [][]byte) (c Command, problem string) {
	name := strings.ToLower(string(args[0]))
	c, known := names[name]
	if !known {
		return c, "ERR '" + name + "' is no command on several sets"
	}
	if c.stores {
		c.Into = args[1]
		args = slices.Concat(args[:1], args[2:])
	}
	switch {
	case c.scored:
		return c.parseScored(name, args)
	case c.card:
		return c.parseCard(args)
	}
	c.Keys = args[1:]
	return c, ""
}

// Sets reports whether a sorted set is of the wrong type for the command.
func (c *Command) Sets() bool { return !c.scored }

// parseCard reads SINTERCARD numkeys key [key ...] [LIMIT limit].
func (c Command) parseCard(args [][]byte) (_ Command, problem string) {
	n, ok := resp.ParseInt(args[1])
	if !ok || n < 1 {
		return c, errNumKeys
	}
	if n > int64(len(args)-2) {
		return c, errManyKeys
	}
	c.Keys = args[2 : 2+n]
	for rest := args[2+n:]; len(rest) > 0; rest = rest[2:] {
		if len(rest) < 2 || !is(rest[0], "limit") {
			return c, errSyntax
		}
		if c.limit, ok = resp.ParseInt(rest[1]); !ok || c.limit < 0 {
			return c, errLimit
		}
	}
	return c, ""
}

// parseScored reads numkeys key [key ...] and what may be behind it: WEIGHTS and AGGREGATE if scores are put together, WITHSCORES if members are replied, LIMIT if
// they are counted.
func (c Command) parseScored(name string, args [][]byte) (_ Command, problem string) {
	n, ok := resp.ParseInt(args[1])
	switch {
	case !ok:
		return c, errInteger
	case n < 1:
		return c, "ERR at least 1 input key is needed for '" + name + "' command"
	case n > int64(len(args)-2):
		return c, errSyntax
	}
	c.Keys = args[2 : 2+n]
	c.late = c.options(args[2+n:])
	return c, ""
}

func (c *Command) options(rest [][]byte) (problem string) {
	for len(rest) > 0 {
		switch word := rest[0]; {
		case c.operation != diff && !c.card && len(rest) > len(c.Keys) && is(word, "weights"):
			c.weights = make([]float64, len(c.Keys))
			for i := range c.weights {
				var ok bool
				if c.weights[i], ok = parseDouble(rest[1+i]); !ok {
					return errWeight
				}
			}
			rest = rest[1+len(c.Keys):]
		case c.operation != diff && !c.card && len(rest) > 1 && is(word, "aggregate"):
			switch {
			case is(rest[1], "sum"):
				c.aggregate = sum
			case is(rest[1], "min"):
				c.aggregate = lowest
			case is(rest[1], "max"):
				c.aggregate = highest
			default:
				return errSyntax
			}
			rest = rest[2:]
		case !c.card && !c.stores && is(word, "withscores"):
			c.scores, rest = true, rest[1:]
		case c.card && len(rest) > 1 && is(word, "limit"):
			var ok bool
			if c.limit, ok = resp.ParseInt(rest[1]); !ok || c.limit < 0 {
				return errLimit
			}
			rest = rest[2:]
		default:
			return errSyntax
		}
	}
	return ""
}

// is reports whether an argument is a word in lower case, in any case.
func is(arg []byte, word string) bool {
	return len(arg) == len(word) && strings.EqualFold(string(arg), word)
}

// parseDouble reads a number as C's strtod does, all of it: infinities and hexadecimal ones, too, but no NaN, and none that is beyond what a double can be, or so
// small that it is zero.
func parseDouble(arg []byte) (float64, bool) {
	text := string(arg)
	digits := strings.TrimLeft(text, "+-")
	hex := len(digits) > 1 && digits[0] == '0' && digits[1]|0x20 == 'x'
	if hex && !strings.ContainsAny(text, "pP") {
		text += "p0" // which Go wants
	}
	v, err := strconv.ParseFloat(text, 64)
	if err != nil || math.IsNaN(v) || strings.Contains(text, "_") {
		return 0, false
	}
	exponent, nonzero := "eE", "123456789"
	if hex {
		exponent, nonzero = "pP", "123456789abcdefABCDEF"
		digits = digits[2:]
	}
	if end := strings.IndexAny(digits, exponent); end >= 0 {
		digits = digits[:end]
	}
	return v, v != 0 || !strings.ContainsAny(digits, nonzero)
}
