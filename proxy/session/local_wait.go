package session

import (
	"cmp"
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
	certain, _ := s.service.cluster.Copies()
	held := max(certain-1, 0)
	if int64(held) < wanted && !s.multi.open {
		copies, all := s.awaitCopies(s.held, s.unheld.slots(), int(min(wanted, math.MaxInt32-1))+1, timeout)
		if copies == all {
			s.undurable.join(&s.unheld)
			s.unheld = unheld{}
		}
		held = copies - 1
	}
	return resp.AppendInt(dst, int64(max(held, 0)))
}

// copiesOf asks how many replicas do, at least, of each slot of a set, and how many may in the end. Slots of which as many do as are wanted, or all, are taken out of the set.
type copiesOf func(ctx context.Context, slots *ring.SlotSet, wanted int) (are, all int)

// held asks how many replicas hold what the client has written.
func (s *Session) held(ctx context.Context, slots *ring.SlotSet, wanted int) (are, all int) {
	_, all = s.service.cluster.Copies()
	return s.service.cluster.Held(ctx, slots, wanted), all
}

// askedAgain is after how long replicas are asked again what they hold, at first and at most, and askedFor how long one answer may take where the time is not limited.
const (
	askedAgain       = time.Millisecond
	askedAgainAtMost = 50 * time.Millisecond
	askedFor         = time.Minute
)

// awaitCopies asks until so many replicas do as are wanted, but for no longer than a time, 0 for any. It returns how many do, and how many may. If more are wanted than there may be, it waits until all
// do, and then for the rest of the time, if that is limited; for none it does not wait.
func (s *Session) awaitCopies(ask copiesOf, slots *ring.SlotSet, wanted int, timeout time.Duration) (are, all int) {
	begun := time.Now()
	for pause := askedAgain; ; pause = min(2*pause, askedAgainAtMost) {
		left := timeout
		if timeout > 0 {
			left = max(timeout-time.Since(begun), 1)
		}
		var now int
		now, all = s.askCopies(ask, left, slots, wanted)
		are = max(are, now) // those that did still do, if they do not answer any more
		switch {
		case are == wanted, all == 0, are == all && timeout == 0:
			return are, all
		case are == all:
			s.conn.Rest(timeout - time.Since(begun))
			return are, all
		case timeout > 0 && time.Since(begun) >= timeout, !s.conn.RestUntil(nil, min(pause, cmp.Or(left, pause))):
			return are, all
		}
	}
}

// askCopies asks once, for no longer than a time, 0 for any, and for no more than are wanted.
func (s *Session) askCopies(ask copiesOf, patience time.Duration, slots *ring.SlotSet, wanted int) (are, all int) {
	ctx, cancel := context.WithTimeout(s.conn.Server().Context(), cmp.Or(patience, askedFor))
	defer cancel()
	are, all = ask(ctx, slots, wanted)
	return min(are, all, wanted), all
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
