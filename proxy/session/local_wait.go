package session

import (
	"math"
	"time"

	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
)

var (
	errTimeoutNumber   = route.Refuse("ERR timeout is not an integer or out of range")
	errTimeoutNegative = route.Refuse("ERR timeout is negative")
)

// runWait is WAIT numreplicas timeout, https://redis.io/commands/wait/. What was acknowledged is held by a majority of the replicas, of which Redis does not count the first.
// Whether more of them hold it nobody here knows: who asks for more waits for nothing, and is told what is certain. That is at once within a transaction, and if the time is not
// limited, for it would be for ever.
func runWait(s *Session, dst []byte, args [][]byte) []byte {
	wanted, isNumber := resp.ParseInt(args[1])
	if !isNumber {
		return route.AppendReply(dst, errNotInteger)
	}
	timeout, err := waitingTime(args[2])
	if err != nil {
		return route.AppendReply(dst, err)
	}
	certain := max(s.service.cluster.Copies()-1, 0)
	if int64(certain) < wanted && !s.multi.open {
		s.conn.Rest(timeout)
	}
	return resp.AppendInt(dst, int64(certain))
}

// waitingTime reads a time-out in milliseconds.
func waitingTime(arg []byte) (time.Duration, error) {
	n, ok := resp.ParseInt(arg)
	switch {
	case !ok:
		return 0, errTimeoutNumber
	case n < 0:
		return 0, errTimeoutNegative
	}
	return milliseconds(n), nil
}

// milliseconds returns a time of so many, or the longest that there is.
func milliseconds(n int64) time.Duration {
	return time.Duration(min(n, int64(math.MaxInt64/time.Millisecond))) * time.Millisecond
}
