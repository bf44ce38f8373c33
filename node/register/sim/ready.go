package sim

import (
	"github.com/quolldb/quoll/node/register"
)

// step lets something happen to the home of a slot, persists what its replica wants to have persisted, and does what else comes of it.
func (n *node) step(slot uint16, in register.Input) {
	in.Moment = n.moment()
	before := n.store.stagedAt
	n.homes[slot].Step(&in, &n.ready)
	for w := &n.ready.Write; w.Wanted(); {
		in.Happening, in.Err = register.Persisted, n.store.persist(w)
		n.homes[slot].Step(&in, &n.ready)
	}
	for i := range n.ready.Messages {
		m := &n.ready.Messages[i]
		for _, member := range m.To {
			if m.Message.To = member; member != n.id {
				n.send(m, before)
			}
		}
	}
	n.act()
}

// act does what homes have made ready, but for the messages: what says something of what the node holds when that is durable (R2).
func (n *node) act() {
	for _, a := range n.ready.Answers {
		n.answer(a.Request, a.Answer)
	}
	for _, m := range n.ready.Missed {
		n.missed(m)
	}
	for _, e := range n.ready.Evaluations {
		n.evaluate(e)
	}
	for _, e := range n.ready.Events {
		n.sim.count(e.String(), 1)
	}
	for i := range n.ready.Votes {
		n.vote(&n.ready.Votes[i])
	}
	n.ready.Reset()
}

// send sends a home's message, unless the step ends in a crash. It says nothing of what
// the own replica holds, so it may leave before that is durable; some nodes wait for what was staged before the step.
func (n *node) send(m *register.Outgoing, before int) {
	n.sim.proposed(&m.Message, m.Blind)
	if n.cut == 0 {
		return // crashes at the end of this step
	}
	if n.cut > 0 {
		n.cut--
	}
	c := copyMessage(&m.Message)
	if n.eager {
		n.sim.send(c)
		return
	}
	n.held = append(n.held, heldEffect{before, func() { n.sim.send(c) }})
}

// evaluate runs a batch by itself, which may take longer than a term.
func (n *node) evaluate(e *register.Evaluation) {
	life := n.life
	e.Run()
	n.sim.after(n.sim.rand.IntN([]int{5, 50, 300}[n.sim.rand.IntN(3)]), func() {
		if n.life == life {
			n.do(func() { n.step(e.Slot, register.Input{Happening: register.Evaluated, Evaluation: e}) })
		}
	})
}

// vote delivers the own replica's reply when it is durable.
func (n *node) vote(m *register.Message) {
	c := copyMessage(m)
	life := n.life
	n.hold(func() {
		n.sim.after(0, func() {
			if n.life == life {
				n.do(func() { n.step(c.Slot, register.Input{Happening: register.Replied, Reply: &c}) })
			}
		})
	})
}

// answer answers a request when what is staged is durable.
func (n *node) answer(r *register.Request, a register.Answer) {
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
	if e, ok := r.Origin.(*eviction); ok {
		reply := string(a.Reply)
		n.hold(func() { e.answer(a.Outcome, reply) })
		return
	}
	o, attempt := r.Origin.(*operation), int(r.OriginID)
	if a.Outcome == register.Unknown && o.cmd.Name == "mget" {
		n.sim.violated("node %d says that the outcome of a batch that only reads is not known", n.id)
	}
	a.Reply = append([]byte(nil), a.Reply...)
	n.hold(func() { n.sim.sendAnswer(n.id, o, attempt, a) })
}

// missed is a hint. In mode repair the node writes some of these keys again, some time later.
func (n *node) missed(m register.Missed) {
	s := n.sim
	s.count("missed", 1)
	if m.Member == n.id {
		s.violated("node %d says that it missed what it proposed itself", n.id)
	}
	if s.base != "repair" || m.Key == nil || !s.chance(4) {
		return
	}
	again := cmd{Name: "repair", Key: string(m.Key), Slot: m.Slot}
	s.after(s.rand.IntN(200), func() { s.repairKey(n, again) })
}
