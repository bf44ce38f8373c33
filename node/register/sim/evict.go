package sim

import (
	"math"

	"github.com/anishathalye/porcupine"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/register"
)

// eviction is a key that a home is asked to delete in exactly the version that some replica held a moment before. In the history it is an operation like those of clients: one that deletes the
// value that was seen, and no other one.
type eviction struct {
	sim   *Sim
	cmd   cmd // with the value that was seen
	start int
	done  bool
}

// What a home says of an eviction.
const gone, kept = "gone", "kept"

// evict has a member choose a key of what its replica holds and, some time later, its home evict it, whoever has written it meanwhile. No client has a part in it.
func (s *Sim) evict() {
	n := s.anyMember()
	name, slot := s.anyKey()
	n.do(func() {
		rec, present, err := n.acceptors[slot].Read([]byte(name))
		if n.lost || n.damaged[slot] || name == string(register.BatchKey) || err != nil || !present || !rec.State.Live() {
			return
		}
		version, seen := rec.Version, show(rec.State)
		s.after(s.rand.IntN(60), func() { s.evictVersion(n, cmd{Name: "evict", Key: name, Slot: slot, Arg: seen}, version) })
	})
}

// evictVersion gives an eviction to the home of a member.
func (s *Sim) evictVersion(n *node, c cmd, version record.Version) {
	n.do(func() {
		if n.lost {
			return
		}
		e := &eviction{sim: s, cmd: c, start: s.now}
		s.evictions = append(s.evictions, e)
		req := c.request()
		req.Of = version
		n.step(c.Slot, register.Input{Happening: register.Asked, Request: register.NewRequest(req, e, 0, int64(s.now))})
	})
}

// answer notes what became of an eviction. One of which the home knows that it did nothing is no part of the history.
func (e *eviction) answer(outcome register.Outcome, reply string) {
	s := e.sim
	if e.done = true; outcome == register.NotDone || outcome == register.Done && reply == kept {
		s.count("evict-kept", 1)
		return
	}
	s.ghosts++
	op := porcupine.Operation{ClientId: s.ghosts, Input: e.cmd, Call: int64(e.start) * 2, Output: reply, Return: int64(s.now)*2 + 1}
	if outcome == register.Unknown {
		op.Output, op.Return = unknown, math.MaxInt64
	} else {
		s.count("evicted", 1)
	}
	s.history = append(s.history, op)
	s.trace("%v -> %v", e.cmd, op.Output)
}

// endEvictions ends those that nobody has answered: their homes have died.
func (s *Sim) endEvictions() {
	for _, e := range s.evictions {
		if !e.done {
			e.answer(register.Unknown, "")
		}
	}
}
