package node

import (
	"math/rand/v2"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/datatype"
	"github.com/quolldb/quoll/node/register"
)

// A stripe is the register.Env of its slots' homes. The methods are called while it
// is locked.

// Now implements register.Env.
func (s *stripe) Now() int64 { return s.out.wall }

// Mono implements register.Env.
func (s *stripe) Mono() int64 { return s.out.mono }

// Rand implements register.Env.
func (s *stripe) Rand(n int64) int64 { return rand.Int64N(n) }

// Alive implements register.Env.
func (s *stripe) Alive(member uint16) bool {
	p := s.node.peerOf(member)
	return p != nil && p.alive() && !p.full()
}

// Behind implements register.Env.
func (s *stripe) Behind(member uint16, since int64) bool {
	if p := s.node.peerOf(member); p != nil {
		return p.connectedAt.Load() < since && (p.link.Working() || p.link.Queued() > manyQueued)
	}
	return s.node.commitsLate()
}

// manyQueued is how many bytes wait for a peer that is behind.
const manyQueued = 1 << 20

// Stable implements register.Env.
func (s *stripe) Stable(member uint16) bool {
	p := s.node.peerOf(member)
	return p != nil && p.stable(s.out.mono) && !p.crowded()
}

// Full implements register.Env.
func (s *stripe) Full() bool { return s.out != nil && s.out.full }

// Leaving implements register.Env.
func (s *stripe) Leaving(member uint16) bool {
	if p := s.node.peerOf(member); p != nil {
		return p.leaving.Load() || p.pace.Slow()
	}
	return s.node.leaving.Load() || s.node.slow.Load()
}

// StandIn implements register.Env.
func (s *stripe) StandIn(slot, except uint16) uint16 { return s.node.standIn(slot, except) }

// Send implements register.Env.
func (s *stripe) Send(m *register.Message) {
	if p := s.node.peerOf(m.To); p != nil && p.connected() {
		s.out.replicate(p.index, m)
	}
}

// Instant implements register.Env.
func (s *stripe) Instant() bool { return s.node.instant }

// Loopback implements register.Env.
func (s *stripe) Loopback(m *register.Message) {
	s.out.loopback(m)
}

// give gives a request to the home of a slot, and counts it in. Answer counts it out.
func (s *stripe) give(number uint16, sl *slot, r *register.Request, except uint16) {
	s.node.inFlight.Add(1)
	s.node.pending.Add(int64(r.Size()))
	sl.home.HandleClient(r, except)
	s.touched(number, sl)
}

// Answer implements register.Env.
func (s *stripe) Answer(r *register.Request, a register.Answer) {
	s.node.inFlight.Add(-1)
	s.node.pending.Add(-int64(r.Size()))
	switch origin := r.Origin.(type) {
	case *wire.ServerConn:
		if a.Outcome == register.Done && !r.Attempted() && origin.Queued()+s.out.queued(origin) > maxReplies {
			s.node.Metrics.RefusedBusy.Inc()
			a = register.Answer{Outcome: register.NotDone, Reason: register.Overloaded} // a read had no effect: it can be asked for later
		}
		s.out.result(origin, &protocol.Result{ID: r.OriginID, Status: protocol.Status(a.Outcome),
			Reason: a.Reason, Hint: a.Hint, Reply: a.Reply})
	case func(done bool): // an operation in the background
		origin(a.Outcome == register.Done)
	}
}

// Missed implements register.Env.
func (s *stripe) Missed(slot, member uint16, key []byte) {
	if set := s.node.hintsOf(member); set == nil {
		return
	} else if key == nil {
		set.Mark(slot)
	} else {
		set.Add(slot, key)
	}
}

// Count implements register.Env.
func (s *stripe) Count(e register.Event) { s.node.Metrics.Events[e].Inc() }

// Execute implements register.Env.
func (s *stripe) Execute(dst []byte, st record.State, req *command.Request, now int64) ([]byte, record.Effect) {
	switch req.Op {
	case command.OpClear:
		return append(dst, resp.OK...), record.Effect{Kind: record.Replaced}
	case opExpire:
		return dst, executeExpire(st)
	case opRepair:
		return dst, datatype.WriteAgain(st)
	}
	start := len(dst)
	s.node.lend(req)
	dst, effect := datatype.Execute(dst, st, req, now)
	if effect.State.Size() > req.MaxValue { // that it was given: what a command makes is bounded before it is made
		return resp.AppendError(dst[:start], datatype.ErrTooLong), record.Effect{}
	}
	return dst, effect
}

// lend gives a request what is this node's: its bound, and what random choices are made of.
func (n *Node) lend(req *command.Request) {
	req.MaxValue = n.opt.MaxValue
	if req.Op == command.OpHRandField {
		req.Random = rand.Uint64()
	}
}
