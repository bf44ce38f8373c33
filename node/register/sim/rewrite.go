package sim

import (
	"slices"

	"github.com/quolldb/quoll/node/register"
)

// rewrite is a key that some home has to write again in the joint epoch.
type rewrite struct {
	collection *collection
	cmd        cmd
	hint       uint16 // whom the last answer pointed to, 0 for nobody
	done       bool
	sent       int
}

// resend is how long a home has for a rewrite until it, or another one, is asked again.
const resend = 60

// ask lets some member write the key again: the one that the last answer pointed to, or another one as if that could not be
// reached; now and then by force, as long as there are faults. Who will not get well is asked until then only, as by clients.
func (w *rewrite) ask() {
	c := w.collection
	s := c.node.sim
	usable := func(id uint16) bool { return !s.healed || !s.nodes[id].ill }
	all := slices.DeleteFunc(slices.Clone(c.epoch.all()), func(id uint16) bool { return !usable(id) })
	n := s.nodes[all[s.rand.IntN(len(all))]]
	except := w.hint
	switch {
	case s.faults() && s.chance(3):
		except = register.AllOthers
	case w.hint != 0 && usable(w.hint) && s.chance(2):
		n, except = s.nodes[w.hint], 0
	}
	w.sent = s.now
	s.carry(c.node.id, n.id, func() {
		n.do(func() {
			if !n.lost && n.meet(w.cmd.Slot, c.epoch.number) {
				n.step(w.cmd.Slot, register.Input{Happening: register.Asked, Request: register.NewRequest(w.cmd.request(), w, 0, int64(s.now)), Except: except})
			}
		})
	})
}

// answerRewrite takes what a home says of a rewrite. It was written in the joint epoch: in the one before no majority
// accepts anything any more.
func (n *node) answerRewrite(w *rewrite, a register.Answer) {
	n.hold(func() {
		n.sim.carry(n.id, w.collection.node.id, func() { w.done, w.hint = w.done || a.Outcome == register.Done, a.Hint })
	})
}
