package sim

import (
	"errors"
	"slices"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/register"
)

// rot makes a record unreadable. Whoever reads it next finds out. Of the other replicas of the slot
// none is rotten, as a rule: nobody could rebuild either.
func (s *Sim) rot(n *node) {
	name, slot := s.anyKey()
	others := slices.ContainsFunc(s.nodes[1:], func(other *node) bool {
		return other != n && (other.damaged[slot] || len(other.store.durable.slots[slot].rotten) > 0)
	})
	if n.lost || n.damaged[slot] || others && !s.chance(20) || !n.store.rot(slot, name) {
		return
	}
	s.count("rot", 1)
	s.trace("node %d cannot read %s any more", n.id, name)
	if s.chance(3) { // the background looks at it soon
		life := n.life
		s.after(s.rand.IntN(50), func() {
			if n.life == life {
				n.do(func() {
					_, _, err := n.store.Get(slot, []byte(name))
					n.damage(slot, err)
				})
			}
		})
	}
}

// damage ends the vote for a slot of which a record cannot be read, and has it rebuilt.
func (n *node) damage(slot uint16, err error) {
	if n.damaged[slot] || !errors.Is(err, errRotten) && !errors.Is(err, register.ErrRebuilding) {
		return
	}
	n.sim.count("rot-found", 1)
	n.sim.trace("node %d does not vote for slot %d: %v", n.id, slot, err)
	n.damaged[slot] = true
	n.homes[slot].Fail(err, &n.ready)
	n.act()
	b := &rebuilding{node: n, slot: slot, life: n.life, next: map[uint16]int{}}
	n.sim.after(1+n.sim.rand.IntN(80), b.step)
}

// rebuilding rebuilds one replica of a node.
type rebuilding struct {
	*register.Rebuild
	node  *node
	slot  uint16
	life  int
	ready bool           // all other members have promised
	next  map[uint16]int // what each of them is asked for next
}

// part is what a member shows of a slot at one time: one key's record, if it has one.
type part struct {
	key  string
	rec  record.Record
	held bool
	meta record.SlotMeta
}

// keysOf returns the keys of a slot.
func (s *Sim) keysOf(slot uint16) (names []string) {
	names = keysIn(slot)
	if s.base != "calm" || slot == 1 { // in which nobody takes a batch over; scenarios are of keys of theirs
		names = append(names, string(register.BatchKey))
	}
	if s.weather.batches && slot == 1 {
		names = append(names, string(placed.All()))
	}
	return names
}

// anyKey returns a key that has a record, and its slot.
func (s *Sim) anyKey() (name string, slot uint16) {
	key := keys[s.rand.IntN(len(keys))]
	if s.chance(4) {
		return string(register.BatchKey), key.slot
	}
	return key.name, key.slot
}

// step asks for what is still missing, again and again.
func (b *rebuilding) step() {
	n, s := b.node, b.node.sim
	if n.life != b.life || !n.damaged[b.slot] {
		return
	}
	n.do(func() {
		if n.life != b.life || !n.damaged[b.slot] {
			return
		}
		if b.Rebuild == nil || n.homes[b.slot].Config() != b.Config() {
			if b.Rebuild != nil {
				s.count("rebuild-cut", 1)
			}
			var err error
			b.Rebuild, err = n.homes[b.slot].Rebuild(&n.ready)
			if n.act(); err != nil || b.persist(nil) != nil {
				b.Rebuild = nil
				return
			}
			b.ready, b.next = false, map[uint16]int{}
		}
		run := b.Rebuild
		n.hold(func() { b.ask(run) })
	})
	s.after(10+s.rand.IntN(20), b.step)
}

func (b *rebuilding) ask(run *register.Rebuild) {
	n := b.node
	if b.Rebuild != run {
		return
	}
	names := b.node.sim.keysOf(b.slot)
	for _, id := range run.Config().Members() {
		number := b.next[id] // the first time it is only asked for its promise
		if id == n.id || number > len(names) || number > 0 && !b.ready {
			continue
		}
		n.sim.carry(n.id, id, func() {
			n.sim.nodes[id].show(b.slot, run.Config().Epoch(), run.Ballot(), number, func(p part) {
				n.sim.carry(id, n.id, func() { b.take(run, id, number, p) })
			})
		})
	}
}

// show tells another member what is held of a slot.
func (n *node) show(slot uint16, epoch uint64, ballot record.Ballot, number int, reply func(part)) {
	n.do(func() {
		if n.lost || n.damaged[slot] {
			return
		}
		acceptor := n.acceptors[slot]
		w := &n.ready.Write
		if current, err := acceptor.Fence(epoch, ballot, w); err != nil || !current {
			return
		}
		if w.Wanted() && acceptor.Persisted(w, n.store.persist(w)) != nil {
			return
		}
		var p part
		if number > 0 {
			var err error
			p.key = n.sim.keysOf(slot)[number-1]
			if p.rec, p.held, err = n.store.Get(slot, []byte(p.key)); err != nil {
				n.damage(slot, err)
				return
			}
			p.rec.State = clone(p.rec.State)
		}
		p.meta = acceptor.Meta()
		n.hold(func() { reply(p) })
	})
}

// persist persists what the rebuild wants to have persisted, if there was no error.
func (b *rebuilding) persist(err error) error {
	if err != nil || !b.Write.Wanted() {
		return err
	}
	return b.Persisted(b.node.store.persist(&b.Write))
}

// take is told what a member holds.
func (b *rebuilding) take(run *register.Rebuild, id uint16, number int, p part) {
	n := b.node
	n.do(func() {
		if n.life != b.life || b.Rebuild != run || !n.damaged[b.slot] || b.next[id] != number || number > 0 && !b.ready {
			return
		}
		if number == 0 {
			ready, err := b.Promised(id, p.meta.Floor, p.meta.Cleared)
			if b.persist(err) == nil {
				b.ready, b.next[id] = ready, 1
			}
			return
		}
		if p.held && b.persist(b.Copy([]byte(p.key), p.rec)) != nil {
			return
		}
		if number == len(b.node.sim.keysOf(b.slot)) && b.Copied(id, p.meta.Floor, p.meta.Cleared) != nil {
			return
		}
		b.next[id]++
		if b.persist(b.Finish()) == nil {
			n.damaged[b.slot] = false
			n.sim.count("rebuilt", 1)
			n.sim.trace("node %d votes for slot %d again: %+v", n.id, b.slot, n.acceptors[b.slot].Meta())
		}
	})
}
