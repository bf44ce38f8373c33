// Package scan is what SCAN, HSCAN and KEYS have in common: cursors as clients write them, the options behind
// them, and patterns. See https://redis.io/commands/scan/.
package scan

import (
	"bytes"
	"errors"
	"strconv"
	"strings"

	"github.com/quolldb/quoll/internal/resp"
)

const (
	// DefaultCount is COUNT where none is given, as in Redis.
	DefaultCount = 10
	// MaxCount is what a larger COUNT counts as: it is a hint, and one reply should not hold everything.
	MaxCount = 100_000
)

// The errors are those of Redis, with their error word.
var (
	ErrCursor     = errors.New("ERR invalid cursor")
	ErrSyntax     = errors.New("ERR syntax error")
	ErrNotInteger = errors.New("ERR value is not an integer or out of range")
)

// Options are what follows the cursor. The slices are borrowed from the arguments.
type Options struct {
	Count   int
	Pattern []byte // nil for everything
	// Type is the name of a type as the client wrote it, nil for all of them.
	Type []byte
}

// Parse reads [MATCH pattern] [COUNT count] and, if keys are scanned, [TYPE type].
func Parse(args [][]byte, keys bool) (Options, error) {
	opts := Options{Count: DefaultCount}
	for ; len(args) > 0; args = args[2:] {
		if len(args) == 1 {
			return opts, ErrSyntax
		}
		switch option := strings.ToLower(string(args[0])); {
		case option == "count":
			n, ok := resp.ParseInt(args[1])
			if !ok {
				return opts, ErrNotInteger
			}
			if n < 1 {
				return opts, ErrSyntax
			}
			opts.Count = int(min(n, MaxCount))
		case option == "match":
			opts.Pattern = args[1]
		case option == "type" && keys:
			opts.Type = args[1]
		default:
			return opts, ErrSyntax
		}
	}
	return opts, nil
}

// Matches reports whether a key, or a field, matches the pattern.
func (o *Options) Matches(name []byte) bool { return o.Pattern == nil || Match(o.Pattern, name) }

// ParseCursor reads a cursor as Redis does, with C's strtoul: signs are allowed (-1 is the
// highest cursor), nothing at all is 0, and a zero byte ends it.
func ParseCursor(arg []byte) (uint64, error) {
	digits, _, _ := bytes.Cut(arg, []byte{0})
	if len(digits) == 0 {
		return 0, nil
	}
	negative := digits[0] == '-'
	if negative || digits[0] == '+' {
		digits = digits[1:]
	}
	n, err := strconv.ParseUint(string(digits), 10, 64)
	if err != nil {
		return 0, ErrCursor
	}
	if negative {
		n = -n
	}
	return n, nil
}
