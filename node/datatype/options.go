package datatype

import (
	"math"

	"github.com/quolldb/quoll/internal/command"
)

// ttlOption says what SET or GETEX is to do with the expiry of the key.
type ttlOption uint8

const (
	ttlUnset ttlOption = iota
	ttlKeep
	ttlPersist
	ttlEX
	ttlPX
	ttlEXAT
	ttlPXAT
)

// stringOptions are the options of SET and GETEX.
type stringOptions struct {
	nx, xx, get bool
	ttl         ttlOption
	amount      []byte // the argument of EX, PX, EXAT or PXAT
}

// parseSetOptions reads what follows the value in SET.
func parseSetOptions(args [][]byte) (opts stringOptions, ok bool) {
	for len(args) > 0 {
		arg := args[0]
		switch {
		case isWord(arg, "nx") && !opts.xx:
			opts.nx = true
		case isWord(arg, "xx") && !opts.nx:
			opts.xx = true
		case isWord(arg, "get"):
			opts.get = true
		case isWord(arg, "keepttl") && opts.choose(ttlKeep):
		default:
			if !opts.parseExpiry(args) {
				return opts, false
			}
			args = args[1:]
		}
		args = args[1:]
	}
	return opts, true
}

// parseGetOptions reads what follows the key in GETEX.
func parseGetOptions(args [][]byte) (opts stringOptions, ok bool) {
	for len(args) > 0 {
		if !isWord(args[0], "persist") || !opts.choose(ttlPersist) {
			if !opts.parseExpiry(args) {
				return opts, false
			}
			args = args[1:]
		}
		args = args[1:]
	}
	return opts, true
}

// parseExpiry reads one of EX, PX, EXAT and PXAT and its argument.
func (o *stringOptions) parseExpiry(args [][]byte) bool {
	kind := ttlUnset
	switch arg := args[0]; {
	case isWord(arg, "ex"):
		kind = ttlEX
	case isWord(arg, "px"):
		kind = ttlPX
	case isWord(arg, "exat"):
		kind = ttlEXAT
	case isWord(arg, "pxat"):
		kind = ttlPXAT
	}
	if kind == ttlUnset || len(args) < 2 || !o.choose(kind) {
		return false
	}
	o.amount = args[1]
	return true
}

// choose sets the ttl option. The options exclude each other, but one of them may
// come several times; the last counts.
func (o *stringOptions) choose(kind ttlOption) bool {
	if o.ttl != ttlUnset && o.ttl != kind {
		return false
	}
	o.ttl = kind
	return true
}

// deadline returns the expiry that the options ask for, in Unix milliseconds, 0 if
// they name none. problem is an error text, empty when all is well.
func (o *stringOptions) deadline(req *command.Request, now int64) (at int64, problem string) {
	if o.ttl < ttlEX {
		return 0, ""
	}
	at, ok := parseInt(o.amount)
	if !ok {
		return 0, errNotInteger
	}
	if at <= 0 {
		return 0, errExpireTime(req)
	}
	if o.ttl == ttlEX || o.ttl == ttlEXAT {
		if at > math.MaxInt64/1000 {
			return 0, errExpireTime(req)
		}
		at *= 1000
	}
	if o.ttl == ttlEX || o.ttl == ttlPX {
		if at > math.MaxInt64-now {
			return 0, errExpireTime(req)
		}
		at += now
	}
	return at, ""
}
