package session

import (
	"context"
	"errors"
	"math"
	"time"

	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
	"github.com/quolldb/quoll/ring"
)

var (
	errNoneOrOne   = route.Refuse("ERR value is out of range, value must between 0 and 1")
	errNotPositive = route.Refuse("ERR value is out of range, must be positive")
	errNoDisk      = route.Refuse("ERR WAITAOF cannot be used when numlocal is set but appendonly is disabled. All nodes keep their data in memory: see --engine")
)

// runWaitAOF is WAITAOF numlocal numreplicas timeout, https://redis.io/commands/waitaof/: it waits until so many replicas have on their disks what the client has written, of which the first is the local
// one. Within a transaction it says how many do at once, as Redis.
func runWaitAOF(s *Session, dst []byte, args [][]byte) []byte {
	local, isNumber := resp.ParseInt(args[1])
	if !isNumber {
		return route.AppendReply(dst, errNotInteger)
	}
	if local < 0 || local > 1 {
		return route.AppendReply(dst, errNoneOrOne)
	}
	others, isNumber := resp.ParseInt(args[2])
	if !isNumber || others < 0 {
		return route.AppendReply(dst, errNotPositive)
	}
	timeout, err := waitingTime(args[3])
	if err != nil {
		return route.AppendReply(dst, err)
	}
	wanted := int(local)
	if others > 0 {
		wanted = int(min(others, math.MaxInt32-1)) + 1
	}
	copies, all := s.awaitDisks(wanted, timeout)
	switch {
	case all == 0 && local == 1:
		return route.AppendReply(dst, errNoDisk)
	case copies == all:
		s.unheld, s.undurable = unheld{}, unheld{}
	}
	dst = resp.AppendArray(dst, 2)
	dst = resp.AppendInt(dst, int64(min(copies, 1)))
	return resp.AppendInt(dst, int64(max(copies-1, 0)))
}

// awaitDisks waits until so many replicas are known to have on their disks what the client has written, and returns how many are, and how many may be.
func (s *Session) awaitDisks(wanted int, timeout time.Duration) (copies, all int) {
	written := s.undurable
	written.join(&s.unheld)
	if wanted == 0 || s.multi.open {
		return s.askCopies(s.durable, timeout, written.slots(), max(wanted, 1))
	}
	return s.awaitCopies(s.durable, written.slots(), wanted, timeout)
}

// durable asks how many replicas have what the client has written on their disks: none may if all nodes keep their data in memory.
func (s *Session) durable(ctx context.Context, slots *ring.SlotSet, wanted int) (are, all int) {
	are, err := s.service.cluster.Durable(ctx, slots, wanted)
	if errors.Is(err, route.ErrInMemory) {
		return 0, 0
	}
	_, all = s.service.cluster.Copies()
	return are, all
}
