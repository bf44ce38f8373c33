package replica

import (
	"bytes"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/notify"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/node/datatype"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/ring"
)

// A Stripe is the register.Env of its slots' homes: it answers what they ask in the course of a step. The methods are called while it
// is locked.

var _ register.Env = (*Stripe)(nil)

// Rand implements register.Env.
func (s *Stripe) Rand(n int64) int64 { return s.host.opt.Random.Int64N(n) }

// Alive implements register.Env.
func (s *Stripe) Alive(member uint16) bool {
	p := s.host.peers.Of(member)
	return p != nil && p.Alive() && !p.Full()
}

// Behind implements register.Env.
func (s *Stripe) Behind(member uint16, since int64) bool {
	if p := s.host.peers.Of(member); p != nil {
		return p.ConnectedAt() < since && (p.Working() || p.Queued() > manyQueued)
	}
	return member == s.self() && s.host.CommitsLate()
}

// self is this node's ID.
func (s *Stripe) self() uint16 { return s.host.view.Load().Self }

// manyQueued is how many bytes wait for a peer that is behind.
const manyQueued = 1 << 20

// Stable implements register.Env.
func (s *Stripe) Stable(member uint16) bool {
	p := s.host.peers.Of(member)
	return p != nil && p.Stable(s.round.in.Mono) && !p.Crowded()
}

// Leaving implements register.Env.
func (s *Stripe) Leaving(member uint16) bool {
	if p := s.host.peers.Of(member); p != nil {
		return p.Leaving() || p.Slow()
	}
	return member == s.self() && (s.host.leaving.Load() || s.host.slow.Load())
}

// StandIn implements register.Env.
func (s *Stripe) StandIn(slot, except uint16) uint16 { return s.host.node.StandIn(slot, except) }

// Execute implements register.Env.
func (s *Stripe) Execute(dst []byte, st record.State, req *command.Request, now int64) (reply []byte, effect record.Effect, err error) {
	switch req.Op {
	case command.OpClear:
		return append(dst, resp.OK...), record.Effect{Kind: record.Replaced}, nil
	case OpExpire:
		start := len(dst)
		if req.Expired {
			l := notify.List{Wanted: req.Events}
			l.Add(notify.Expired, "expired", req.Args[1])
			dst = l.Before(dst, start)
		}
		return dst, executeExpire(st), nil
	case OpEvict:
		dst, effect = evict(dst, st, req)
		return dst, effect, nil
	case OpRepair:
		return dst, datatype.WriteAgain(st), nil
	}
	if len(req.Args) > 1 && !s.host.view.Load().Placements.Admits(req.Args[1]) { // a peer may send what is no command
		return resp.AppendError(dst, command.ErrClosed), record.Effect{}, nil
	}
	defer record.Catch(&err)
	start := len(dst)
	s.host.Lend(req)
	var before datatype.Before
	if req.Events != 0 {
		before = datatype.Look(st, req)
	}
	dst, effect = datatype.Execute(dst, st, req, now)
	if size := effect.State.Size(); size > req.MaxValue && size > datatype.Longest(effect.State.Type, req) { // that it was given: what a command makes is bounded before it is made
		dst, effect = resp.AppendError(dst[:start], datatype.ErrTooLong), record.Effect{}
	}
	if req.Events != 0 {
		dst, effect = withEvents(dst, start, req, before, effect)
	}
	if req.Versioned {
		s.awaitVersion(req, &effect)
	}
	if s.host.Tracks() && effect.Kind == record.Unchanged && len(req.Args) > 1 && !command.Untouching(req.Op) { // what is written is noted when it is stored
		s.host.evicting.Use(ring.SlotOf(req.Args[1]), req.Args[1])
	}
	return dst, effect, nil
}

// withEvents puts the events of a command before its reply: they are told when the reply is the answer, and so known to be true, by whoever cuts them off it (Round.tell).
func withEvents(dst []byte, start int, req *command.Request, before datatype.Before, effect record.Effect) ([]byte, record.Effect) {
	l := notify.List{Wanted: req.Events}
	if before.Tell(&l, req, dst[start:], &effect); l.Len() == 0 {
		return dst, effect
	}
	effect.State = effect.State.Keep() // what is borrowed may be behind the reply
	if len(effect.Delta) <= record.CopiedValue {
		effect.Delta = bytes.Clone(effect.Delta)
	}
	return l.Before(dst, start), effect
}

// Lend gives a request what is this node's: its bound, and what random choices are made of.
func (h *Host) Lend(req *command.Request) {
	req.MaxValue, req.MaxCollection = h.opt.MaxValue, h.opt.MaxCollection
	if datatype.Chooses(req.Op) {
		req.Random = h.opt.Random.Uint64()
	}
	if req.Op == command.OpObjectState {
		h.lendUsage(req)
	}
}
