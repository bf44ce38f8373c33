package replica

import (
	"errors"
	"sync"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/ring"
)

// stripes is the number of locks that the slots share.
const stripes = min(256, ring.Slots/2)

// Stripe is the slots that share a lock. While it is held, round gathers what
// their homes send.
type Stripe struct {
	host  *Host
	mu    sync.Mutex
	round *Round

	applier datatype.Applier // of what its replicas are sent

	unversioned []unversioned // what was executed in the step that is being made

	active uint64                      // the slots whose homes need ticks, slot k*stripes + i of stripe i as bit k,
	busy   uint64                      // and those of them that lead and have been given something since the last tick
	slots  [ring.Slots / stripes]*Slot // by number / stripes, nil until used
}

var _ [64 - ring.Slots/stripes]struct{} // each slot of a stripe has a bit of active

// Slot is one replica of a slot, and its home in this process, in one piece of
// memory: what a write touches of it is near together.
type Slot struct {
	err      error // what it holds cannot be read: it does not vote any more
	acceptor register.Acceptor
	home     register.Home
}

// Leads reports whether this node holds the term of a slot. sl is nil for a slot that was
// not used yet.
func (sl *Slot) Leads() bool { return sl != nil && sl.home.Leading() && !sl.home.Deposed() }

// ErrNotReplica is returned for slots that the ring does not give to this node.
var ErrNotReplica = errors.New("replica: not a replica of the slot")

// Lock locks the stripe of a slot; what its home sends goes to round. Without a round nothing may happen to a home.
func (h *Host) Lock(number uint16, round *Round) *Stripe {
	s := &h.stripes[number%stripes]
	s.mu.Lock()
	s.round = round
	return s
}

// Stripe returns the stripe of a slot, which is locked by a group.
func (h *Host) Stripe(number uint16) *Stripe { return &h.stripes[number%stripes] }

// Unlock ends that the stripe is locked, and does what homes have made ready.
func (s *Stripe) Unlock() {
	round := s.round
	if round != nil {
		round.tell()
	}
	s.release()
	if round != nil {
		round.act()
	}
}

// End unlocks the stripe, and ends the round, if there is one.
func (s *Stripe) End() {
	round := s.round
	s.Unlock()
	if round != nil {
		round.Flush()
	}
}

// release unlocks the stripe.
func (s *Stripe) release() {
	s.round = nil
	s.mu.Unlock()
}

// Engine is the engine, in which the slots of the stripe do not change.
func (s *Stripe) Engine() engine.Engine { return s.host.engine }

// Slot returns a slot, opened on first use: it takes part in the epoch that the view says, in one write (R17). The stripe is locked. An error that is
// register.ErrNoRoom is of a slot that this node comes to, and has no room to begin in.
func (s *Stripe) Slot(number uint16) (*Slot, error) {
	if number >= ring.Slots {
		return nil, ErrNotReplica
	}
	if sl := s.slots[number/stripes]; sl != nil {
		return sl, sl.err
	}
	v := s.host.view.Load()
	if v == nil || !v.Table.Contains(number, v.Self) {
		return nil, ErrNotReplica
	}
	sl := new(Slot)
	var err error
	if sl.acceptor, err = register.NewAcceptor(number, &s.host.store, s.applier.Apply); err == nil {
		err = s.enter(number, sl, v)
	}
	if errors.Is(err, register.ErrNoRoom) {
		return nil, err
	}
	s.slots[number/stripes] = sl
	sl.home = register.NewHome(s, &s.host.opt.Timing, number, v.Self, s.host.incarnation(v.Self), v.config(number), &sl.acceptor)
	if err == nil && sl.acceptor.Meta().Rebuilding { // a former process began
		err = register.ErrRebuilding
	}
	if err != nil {
		s.Fail(number, sl, err)
	}
	return sl, sl.err
}

// Scan calls visit with the records of a slot from a position on and below end, until enough reports
// that it is, and returns where to go on. Keys with the same position are never torn apart. key is
// borrowed. The stripe is locked.
func (s *Stripe) Scan(number uint16, from, end engine.Position, enough func() bool,
	visit func(pos engine.Position, key []byte, rec record.Record)) (next engine.Position, err error) {
	if err := s.Readable(number); err != nil {
		return from, err
	}
	next, last := end, engine.EndPosition
	err = s.host.engine.Scan(number, from, func(pos engine.Position, key []byte, rec record.Record) bool {
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
func (s *Stripe) touched(number uint16, sl *Slot) {
	bit := uint64(1) << (number / stripes)
	s.active, s.busy = s.active&^bit, s.busy&^bit
	if sl.home.Active() {
		s.active |= bit
		if sl.home.Leading() {
			s.busy |= bit
		}
	}
	if err := sl.home.Err(); err != nil && sl.err == nil {
		s.Fail(number, sl, err)
	}
}

// Active reports whether the home of a slot has something to do.
func (s *Stripe) Active(number uint16) bool { return s.active>>(number/stripes)&1 != 0 }

// Claims reports whether this node holds the term of the slot, or is about to.
func (sl *Slot) Claims() bool { return sl.home.Claims() && !sl.home.Deposed() }

// Adopt takes part in an epoch from now on, if it is newer, and reports whether it is the one that the replica is in. The stripe is locked.
func (s *Stripe) Adopt(sl *Slot, epoch uint64) (current bool, err error) {
	w := &s.round.ready.Write
	current = sl.acceptor.Adopt(epoch, w)
	return current, s.persist(sl, w)
}

// Handle executes a home's request, and has written what comes of it. The stripe is locked.
func (s *Stripe) Handle(sl *Slot, m, answer *register.Message) error {
	w := &s.round.ready.Write
	if err := sl.acceptor.Step(m, answer, w); err != nil {
		return err
	}
	return s.persist(sl, w)
}

// Read returns what the replica holds of a key.
func (sl *Slot) Read(key []byte) (record.Record, bool, error) { return sl.acceptor.Read(key) }

// Batched reports whether a key is one of a batch that is open as far as the replica knows (register.Acceptor.Batched).
func (sl *Slot) Batched(key []byte) (bool, error) { return sl.acceptor.Batched(key) }

// OpenBatch returns the version of the batch that is open in a slot as far as this replica knows (register.Acceptor.OpenBatch), zero if none is; so it is for a slot that was not used yet.
func (s *Stripe) OpenBatch(number uint16) record.Version {
	sl := s.slots[number/stripes]
	if sl == nil || sl.err != nil {
		return record.Version{}
	}
	open, err := sl.acceptor.OpenBatch()
	if err != nil {
		return record.Version{} // whoever reads what it holds finds that out
	}
	return open
}

// Meta is what the replica holds of the slot itself.
func (sl *Slot) Meta() record.SlotMeta { return sl.acceptor.Meta() }

// Leads reports whether this node holds the term of a slot. The stripe is locked.
func (s *Stripe) Leads(number uint16) bool { return s.slots[number/stripes].Leads() }

// Each calls do with each slot that was used, locked.
func (h *Host) Each(do func(number uint16, sl *Slot)) {
	for i := range h.stripes {
		s := &h.stripes[i]
		s.mu.Lock()
		for k, sl := range s.slots {
			if sl != nil {
				do(uint16(k*stripes+i), sl)
			}
		}
		s.mu.Unlock()
	}
}
