package sim

import (
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/register"
)

// A node is the register.Env of its homes.

// Now returns the node's wall clock. It is far from zero, which would mean no expiry.
func (n *node) Now() int64 { return int64(1_000_000 + n.sim.now + n.sim.clock[n.id]) }

// Mono returns the time.
func (n *node) Mono() int64 { return int64(n.sim.now) }

// Rand returns a random number.
func (n *node) Rand(k int64) int64 { return n.sim.rand.Int64N(k) }

// Count counts an event.
func (n *node) Count(e register.Event) { n.sim.count(e.String(), 1) }

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

// Missed is a hint. In mode repair the node writes some of these keys again, some time later.
func (n *node) Missed(slot, member uint16, key []byte) {
	s := n.sim
	s.count("missed", 1)
	if member == n.id {
		s.violated("node %d says that it missed what it proposed itself", n.id)
	}
	if s.options.Mode != "repair" || key == nil || !s.chance(4) {
		return
	}
	again := cmd{Name: "repair", Key: string(key), Slot: slot}
	s.after(s.rand.IntN(200), func() { s.repairKey(n, again) })
}

// Full reports whether the store takes no writes; now and then it comes too late.
func (n *node) Full() bool { return n.store.full && !n.sim.chance(8) }

// Leaving: in mode leaving the nodes are about to end in turns, and change their minds.
func (n *node) Leaving(member uint16) bool {
	const turn = 300
	return n.sim.options.Mode == "leaving" && !n.sim.healed && n.sim.now/turn%8 == int(member)
}

// StandIn is a rumour as well, in mode leaving.
func (n *node) StandIn(slot, _ uint16) uint16 {
	if n.sim.options.Mode != "leaving" || n.sim.healed {
		return 0
	}
	return uint16(n.sim.now/100%8) * (slot & 1)
}

// Execute runs a command.
func (n *node) Execute(dst []byte, st record.State, req *command.Request, now int64) ([]byte, record.Effect) {
	n.blind = command.Blind(req)
	return execute(dst, st, req, now)
}

// Send sends a home's message, unless the step ends in a crash. It says nothing of what
// the own replica holds, so it may leave before that is durable.
func (n *node) Send(m *register.Message) {
	n.sim.lineage.proposed(m, n.blind)
	if n.cut == 0 {
		return // crashes at the end of this step
	}
	if n.cut > 0 {
		n.cut--
	}
	c := copyMessage(m)
	if c.IsDelta {
		c.State = record.State{} // it does not travel
	}
	if n.eager {
		n.sim.send(c)
		return
	}
	n.hold(func() { n.sim.send(c) })
}

// Instant reports whether the store commits what it stages.
func (n *node) Instant() bool { return n.store.instant }

// Loopback delivers the own replica's reply when it is durable.
func (n *node) Loopback(m *register.Message) {
	c := copyMessage(m)
	life := n.life
	n.hold(func() {
		n.sim.after(0, func() {
			if n.life == life {
				n.do(func() { n.homes[c.Slot].HandleReply(&c) })
			}
		})
	})
}

// Answer answers a request when what is staged is durable.
func (n *node) Answer(r *register.Request, a register.Answer) {
	if r.Origin == nil { // a repair: nobody waits for it
		if a.Outcome == register.Done {
			n.sim.count("repaired", 1)
		}
		return
	}
	if w, ok := r.Origin.(*rewrite); ok {
		n.answerRewrite(w, a)
		return
	}
	o, attempt, epoch := r.Origin.(*operation), int(r.OriginID), n.epoch.number
	a.Reply = append([]byte(nil), a.Reply...)
	n.hold(func() { n.sim.sendAnswer(n.id, o, attempt, a, epoch) })
}

// copyMessage is what arrives of a message: objects travel as bytes.
func copyMessage(m *register.Message) register.Message {
	c := *m
	c.Key = append([]byte(nil), m.Key...)
	c.Delta = append([]byte(nil), m.Delta...)
	c.State, c.Found = clone(m.State.Packed()), clone(m.Found.Packed())
	return c
}
