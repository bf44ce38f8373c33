package session

import (
	"context"
	"math"
	"time"

	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
	"github.com/quolldb/quoll/ring"
)

var (
	errTimeoutNumber   = route.Refuse("ERR timeout is not an integer or out of range")
	errTimeoutNegative = route.Refuse("ERR timeout is negative")
)

// runWait is WAIT numreplicas timeout, https://redis.io/commands/wait/. What was acknowledged is held by a majority of the replicas, of which Redis does not count the first. Who wants more waits
// until as many hold all that the client has written. Within a transaction it is said at once what is certain, as Redis does not wait there either.
func runWait(s *Session, dst []byte, args [][]byte) []byte {
	wanted, isNumber := resp.ParseInt(args[1])
	if !isNumber {
		return route.AppendReply(dst, errNotInteger)
	}
	timeout, err := waitingTime(args[2])
	if err != nil {
		return route.AppendReply(dst, err)
	}
	certain, all := s.service.cluster.Copies()
	held := max(certain-1, 0)
	if int64(held) < wanted && !s.multi.open {
		held = s.awaitCopies(int(min(wanted, math.MaxInt32-1))+1, all, timeout) - 1
	}
	return resp.AppendInt(dst, int64(max(held, 0)))
}

// askedAgain is after how long replicas are asked again what they hold, at first and at most, and askedFor how long one answer may take where the time is not limited.
const (
	askedAgain       = time.Millisecond
	askedAgainAtMost = 50 * time.Millisecond
	askedFor         = time.Minute
)

// awaitCopies waits until so many replicas hold what the client has written, of all that there are, but for no longer than a time, 0 for any. It returns how many do. If more are wanted than there
// are, it waits until all do, and then for the rest of the time, if that is limited.
func (s *Session) awaitCopies(copies, all int, timeout time.Duration) (held int) {
	begun, slots := time.Now(), s.unheld.slots()
	for pause := askedAgain; ; pause = min(2*pause, askedAgainAtMost) {
		left := askedFor
		if timeout > 0 {
			left = timeout - time.Since(begun)
		}
		if held = min(s.held(left, slots, copies), copies, all); held == all {
			s.unheld = unheld{}
		}
		switch {
		case held == copies:
			return held
		case held == all && timeout == 0:
			return held
		case held == all:
			s.conn.Rest(timeout - time.Since(begun))
			return held
		case timeout > 0 && time.Since(begun) >= timeout, !s.conn.RestUntil(nil, min(pause, left)):
			return held
		}
	}
}

// held asks replicas how many of them hold what the client has written. Slots of which as many do as are wanted, or all, are taken out of the set.
func (s *Session) held(patience time.Duration, slots *ring.SlotSet, copies int) int {
	ctx, cancel := context.WithTimeout(s.conn.Server().Context(), patience)
	defer cancel()
	return s.service.cluster.Held(ctx, slots, copies)
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
