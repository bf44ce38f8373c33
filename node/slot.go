package node

import (
	"errors"
	"math/bits"
	"sync"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/ring"
)

// stripes is the number of locks that the slots share.
const stripes = min(256, ring.Slots/2)

// stripe is the lock for some of the slots. While it is held, out gathers what
// their homes send.
type stripe struct {
	node *Node
	mu   sync.Mutex
	out  *outbox

	applier datatype.Applier // of what its replicas are sent

	active uint64                      // the slots whose homes need ticks, slot k*stripes + i of stripe i as bit k,
	busy   uint64                      // and those of them that lead and have been given something since the last tick
	slots  [ring.Slots / stripes]*slot // by number / stripes, nil until used
}

var _ [64 - ring.Slots/stripes]struct{} // each slot of a stripe has a bit of active

// slot is one replica of a slot, and its home in this process, in one piece of
// memory: what a write touches of it is near together.
type slot struct {
	err      error // what it holds cannot be read: it does not vote any more
	acceptor register.Acceptor
	home     register.Home
}

// leads reports whether this node holds the term of a slot. sl is nil for a slot that was
// not used yet.
func (sl *slot) leads() bool { return sl != nil && sl.home.Leading() && !sl.home.Deposed() }

// errNotReplica is returned for slots that the ring does not give to this node.
var errNotReplica = errors.New("node: not a replica of the slot")

// lock locks the stripe of a slot; what its home sends goes to out.
func (n *Node) lock(number uint16, out *outbox) *stripe {
	s := &n.stripes[number%stripes]
	s.mu.Lock()
	s.out = out
	return s
}

// unlock ends that, and does what homes have made ready.
func (s *stripe) unlock() {
	out := s.out
	s.release()
	if out != nil {
		out.act()
	}
}

// release unlocks the stripe.
func (s *stripe) release() {
	s.out = nil
	s.mu.Unlock()
}

// slot returns a slot, opened on first use. The stripe is locked.
func (s *stripe) slot(number uint16) (*slot, error) {
	if number >= ring.Slots {
		return nil, errNotReplica
	}
	if sl := s.slots[number/stripes]; sl != nil {
		return sl, sl.err
	}
	v := s.node.view.Load()
	if v == nil || !v.table.Contains(number, v.self) {
		return nil, errNotReplica
	}
	sl := new(slot)
	s.slots[number/stripes] = sl
	var err error
	sl.acceptor, err = register.NewAcceptor(number, store{s}, s.applier.Apply)
	sl.home = register.NewHome(s, &s.node.timing, number, v.self, s.node.incarnation(v.self), v.config(number), &sl.acceptor)
	if err == nil && sl.acceptor.Meta().Rebuilding { // a former process began
		err = register.ErrRebuilding
	}
	if err != nil {
		s.fail(number, sl, err)
	}
	return sl, sl.err
}

// scan calls visit with the records of a slot from a position on and below end, until enough reports
// that it is, and returns where to go on. Keys with the same position are never torn apart. key is
// borrowed. The stripe is locked.
func (s *stripe) scan(number uint16, from, end engine.Position, enough func() bool,
	visit func(pos engine.Position, key []byte, rec record.Record)) (next engine.Position, err error) {
	if err := s.readable(number); err != nil {
		return from, err
	}
	next, last := end, engine.EndPosition
	err = s.node.engine.Scan(number, from, func(pos engine.Position, key []byte, rec record.Record) bool {
		switch {
		case pos >= end:
			return false
		case pos != last && enough():
			next = pos
			return false
		}
		last = pos
		visit(pos, key, rec)
		return true
	})
	return next, err
}

// touched keeps account of the homes that need ticks. Whoever gives a home something to do calls it, while the
// slot is near: most are done by the next tick, which would have to fetch them only to find that out.
func (s *stripe) touched(number uint16, sl *slot) {
	bit := uint64(1) << (number / stripes)
	s.active, s.busy = s.active&^bit, s.busy&^bit
	if sl.home.Active() {
		s.active |= bit
		if sl.home.Leading() {
			s.busy |= bit
		}
	}
	if err := sl.home.Err(); err != nil && sl.err == nil {
		s.fail(number, sl, err)
	}
}

// isActive reports whether the home of a slot has something to do.
func (s *stripe) isActive(number uint16) bool { return s.active>>(number/stripes)&1 != 0 }

// busyTicks is every how many ticks a home that is busy gets one: what takes too long is late by so little, and a
// node that writes much has a thousand such homes at any moment.
const busyTicks = 4

// tick lets every active home look after what takes too long.
func (n *Node) tick() {
	n.lookForRoom()
	n.lookAtPace()
	n.lookAtClock()
	n.lookAtReturn()
	out := n.getOutbox()
	n.ticks++
	slow := false
	for i := range n.stripes {
		s := &n.stripes[i]
		s.mu.Lock()
		s.out = out
		left := s.active
		if (n.ticks+i)%busyTicks != 0 {
			left &^= s.busy
		}
		for ; left != 0; left &= left - 1 {
			k := bits.TrailingZeros64(left)
			sl := s.slots[k]
			if sl.home.Active() {
				s.step(uint16(k*stripes+i), sl, register.Tick)
				slow = slow || sl.home.Slow(out.in.Mono)
			} else {
				s.touched(uint16(k*stripes+i), sl)
			}
		}
		s.busy = 0
		s.unlock()
	}
	if slow {
		n.work.slow.Store(n.mono())
	}
	out.flush()
}
