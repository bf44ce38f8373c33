package command

import (
	"bytes"
	"math"
	"strconv"
)

// Timeout reads how long a command waits (BLPOP), in seconds, and returns milliseconds: 0 for ever, and as Redis does it rounded up. The problem is why the argument is none, as a reply, nothing if it is.
func Timeout(arg []byte) (ms int64, problem string) {
	seconds, err := strconv.ParseFloat(string(arg), 64)
	wait := math.Ceil(seconds * 1000)
	switch {
	case bytes.IndexByte(arg, '_') >= 0, math.IsNaN(seconds), err != nil && !math.IsInf(seconds, 0):
		return 0, "ERR timeout is not a float or out of range"
	case wait < 0, wait >= math.MaxInt64: // which Redis takes for negative
		return 0, "ERR timeout is negative"
	case wait > math.MaxInt64-aboutNow:
		return 0, "ERR timeout is out of range"
	}
	return int64(wait), ""
}

// aboutNow is the time in Unix milliseconds, as precisely as it matters: when the waiting ends has to be a time that there is.
const aboutNow = 1 << 41

// Unblocked returns what a command that waits for its keys does when it does not wait: the command's number, and its arguments without the time-out. Those of
// BLPOP, BRPOP, BZPOPMIN and BZPOPMAX stay as they are: no other command replies as they do.
func Unblocked(op Op, args [][]byte) (Op, [][]byte) {
	switch op {
	case OpBLMove:
		return OpLMove, args[:len(args)-1]
	case OpBRPopLPush:
		return OpRPopLPush, args[:len(args)-1]
	case OpBLMPop:
		return OpLMPop, without(args, 1)
	case OpBZMPop:
		return OpZMPop, without(args, 1)
	}
	return op, args
}

// TimeoutOf returns the argument of a command that waits which says how long.
func TimeoutOf(op Op, args [][]byte) []byte {
	if op == OpBLMPop || op == OpBZMPop {
		return args[1]
	}
	return args[len(args)-1]
}

// without returns a copy of arguments without one of them.
func without(args [][]byte, at int) [][]byte {
	rest := make([][]byte, 0, len(args)-1)
	return append(append(rest, args[:at]...), args[at+1:]...)
}
