package sim

import (
	"maps"
	"slices"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/register"
)

// transfer takes what the old members of a joint epoch hold to the new ones (R18). What is agreed on is
// copied to the members that join; homes write the rest again.
type transfer struct {
	sim       *Sim
	epoch     uint64 // the joint one
	old, next []uint16
	joining   []uint16             // those of next that are no old members
	shown     map[uint16]*snapshot // what old members hold
	copied    *snapshot            // what is copied, nil until that is decided
	filled    map[uint16]bool      // joining members that have it
	rewrites  []*rewrite
}

// snapshot is all that a replica holds.
type snapshot struct {
	metas   [slots]record.SlotMeta
	records [slots]map[string]record.Record
}

// rewrite is a key that some home has to write again in the joint epoch.
type rewrite struct {
	transfer *transfer
	cmd      cmd
	hint     uint16 // whom the last answer pointed to, 0 for nobody
	done     bool
	sent     int
}

// resend is how long a home has for a rewrite until it, or another one, is asked again.
const resend = 60

// step asks for what is still missing, again and again.
func (t *transfer) step() {
	s := t.sim
	switch {
	case s.change != t: // dropped
		return
	case t.copied == nil && !t.decide():
		for _, id := range t.old {
			if _, ok := t.shown[id]; !ok {
				s.carry(0, id, func() { s.nodes[id].showAll(t) })
			}
		}
	case t.complete():
		s.endChange(t.next, "members-changed")
		return
	default:
		t.carryOut()
	}
	s.after(12, t.step)
}

// complete reports whether every joining member has its copy, and all that had to be written again is.
func (t *transfer) complete() bool {
	return len(t.filled) == len(t.joining) && !slices.ContainsFunc(t.rewrites, func(w *rewrite) bool { return !w.done })
}

// carryOut asks for copies and for writes.
func (t *transfer) carryOut() {
	s := t.sim
	for _, id := range t.joining {
		if !t.filled[id] {
			s.carry(0, id, func() { s.nodes[id].fill(t) })
		}
	}
	for _, w := range t.rewrites {
		if !w.done && s.now-w.sent >= resend {
			w.ask()
		}
	}
}

// ask lets some member write the key again: the one that the last answer pointed to, or another one as if that could not be
// reached; now and then by force, as long as there are faults.
func (w *rewrite) ask() {
	s, all := w.transfer.sim, w.transfer.sim.latest().all()
	n := s.nodes[all[s.rand.IntN(len(all))]]
	except := w.hint
	switch {
	case s.faults() && s.chance(3):
		except = register.AllOthers
	case w.hint != 0 && s.chance(2):
		n, except = s.nodes[w.hint], 0
	}
	w.sent = s.now
	s.carry(0, n.id, func() {
		n.learn(w.transfer.epoch)
		n.do(func() {
			if !n.lost {
				n.step(w.cmd.Slot, register.Input{Happening: register.Asked, Request: register.NewRequest(w.cmd.request(), w, 0, int64(s.now)), Except: except})
			}
		})
	})
}

// answerRewrite takes what a home says of a rewrite. It was written in the joint epoch: in the one before no majority
// accepts anything any more.
func (n *node) answerRewrite(w *rewrite, a register.Answer) {
	n.hold(func() { n.sim.carry(n.id, 0, func() { w.done, w.hint = w.done || a.Outcome == register.Done, a.Hint }) })
}

// showAll lets an old member show what it holds. Adopting the joint epoch first fences it: it accepts nothing of
// the old epoch that it does not show.
func (n *node) showAll(t *transfer) {
	n.do(func() {
		if n.lost || n.store.failing || n.rotten() || !n.adoptAll(t.epoch) {
			return
		}
		var all snapshot
		for slot := range n.acceptors {
			all.metas[slot], all.records[slot] = n.acceptors[slot].Meta(), maps.Clone(n.store.staged.slots[slot].records)
		}
		n.hold(func() { n.sim.carry(n.id, 0, func() { t.shown[n.id] = &all }) })
	})
}

// fill gives a joining member its copy, unless it is in a later epoch.
func (n *node) fill(t *transfer) {
	n.do(func() {
		if n.lost || n.store.failing || n.store.full || n.rotten() || !n.adoptAll(t.epoch) {
			return
		}
		for slot := range n.acceptors {
			n.fillSlot(uint16(slot), t.copied.metas[slot], t.copied.records[slot])
		}
		n.hold(func() { n.sim.carry(n.id, 0, func() { t.filled[n.id] = true }) })
	})
}

// fillSlot writes what is newer than what is there.
func (n *node) fillSlot(slot uint16, meta record.SlotMeta, records map[string]record.Record) {
	for _, key := range slices.Sorted(maps.Keys(records)) {
		rec := records[key]
		if held, _, _ := n.acceptors[slot].Read([]byte(key)); held.Version.Less(rec.Version) {
			_ = n.store.Stage(slot, rec.Version, []record.Change{{Key: []byte(key), State: rec.State}})
		}
	}
	own := n.acceptors[slot].Meta()
	own.Floor = record.Max(own.Floor, meta.Floor)
	if own.Promised.Less(meta.Promised) {
		own.Promised = meta.Promised
	}
	if own.Cleared.Less(meta.Cleared) {
		own.Cleared = meta.Cleared
		_ = n.store.Clear(slot, own)
	} else {
		_ = n.store.PutSlot(slot, own)
	}
	n.open(slot) // the acceptor reads its slot again
}
