package sim

import (
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/register"
)

// A node is the register.Env of its homes: it answers what they ask in the course of a step.

// moment is the time and place of a step. The wall clock is far from zero, which would mean no expiry. That the store takes no writes is now and then
// known too late.
func (n *node) moment() register.Moment {
	return register.Moment{Now: n.now(), Mono: int64(n.sim.now), Full: n.store.full && !n.sim.chance(8), Instant: n.store.instant}
}

// now returns the node's wall clock.
func (n *node) now() int64 { return int64(1_000_000 + n.sim.now + n.sim.clock[n.id]) }

// Rand returns a random number.
func (n *node) Rand(k int64) int64 { return n.sim.rand.Int64N(k) }

// Stable is true now and then. Once a majority is well it is the truth.
func (n *node) Stable(member uint16) bool {
	if n.sim.healed {
		return n.Alive(member)
	}
	return n.sim.percent(20) && n.Alive(member)
}

// Alive is a rumour. Once a majority is well it is the truth.
func (n *node) Alive(member uint16) bool {
	other := n.sim.nodes[member]
	if n.sim.healed {
		return other.up && !other.ill && !n.ill
	}
	return other.up && n.sim.rand.IntN(10) < 8
}

// Behind comes and goes, whether it is true or not. Once a majority is well nobody is.
func (n *node) Behind(member uint16, _ int64) bool {
	const turn = 70
	return !n.sim.healed && n.sim.now/turn%6 == int(member)
}

// Leaving: in mode leaving the nodes are about to end in turns, and change their minds.
func (n *node) Leaving(member uint16) bool {
	const turn = 300
	return n.sim.base == "leaving" && !n.sim.healed && n.sim.now/turn%8 == int(member)
}

// StandIn is a rumour as well, in mode leaving.
func (n *node) StandIn(slot, _ uint16) uint16 {
	if n.sim.base != "leaving" || n.sim.healed {
		return 0
	}
	return uint16(n.sim.now/100%8) * (slot & 1)
}

// Execute runs a command.
func (n *node) Execute(dst []byte, st record.State, req *command.Request, now int64) ([]byte, record.Effect, error) {
	dst, effect := execute(dst, st, req, now)
	return dst, effect, nil
}

// copyMessage is what arrives of a message: objects travel as bytes.
func copyMessage(m *register.Message) register.Message {
	c := *m
	c.Key = append([]byte(nil), m.Key...)
	c.Delta = append([]byte(nil), m.Delta...)
	c.State, c.Found = clone(m.State.Packed()), clone(m.Found.Packed())
	return c
}
