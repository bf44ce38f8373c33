package node

import (
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/node/datatype"
)

// A stripe is the register.Env of its slots' homes: it answers what they ask in the course of a step. The methods are called while it
// is locked.

// Rand implements register.Env.
func (s *stripe) Rand(n int64) int64 { return s.node.opt.random().Int64N(n) }

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
	return p != nil && p.stable(s.out.in.Mono) && !p.crowded()
}

// Leaving implements register.Env.
func (s *stripe) Leaving(member uint16) bool {
	if p := s.node.peerOf(member); p != nil {
		return p.leaving.Load() || p.pace.Slow()
	}
	return s.node.leaving.Load() || s.node.slow.Load()
}

// StandIn implements register.Env.
func (s *stripe) StandIn(slot, except uint16) uint16 { return s.node.standIn(slot, except) }

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
	if size := effect.State.Size(); size > req.MaxValue && size > datatype.Longest(effect.State.Type, req) { // that it was given: what a command makes is bounded before it is made
		return resp.AppendError(dst[:start], datatype.ErrTooLong), record.Effect{}
	}
	return dst, effect
}

// lend gives a request what is this node's: its bound, and what random choices are made of.
func (n *Node) lend(req *command.Request) {
	req.MaxValue, req.MaxHash = n.opt.MaxValue, n.opt.MaxHash
	if req.Op == command.OpHRandField {
		req.Random = n.opt.random().Uint64()
	}
}
