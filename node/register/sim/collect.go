package sim

import (
	"slices"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/register"
)

// collection is how a new member of a slot comes to what the old ones hold (R18), each one for itself. The slot is read in pages, at
// different moments and from whichever old members answer, while commands go on. A process that is started again begins at the first page, or
// with the one after the last that it has noted: the note says that all before is done.
type collection struct {
	node     *node
	transfer *transfer
	epoch    *epoch
	life     int
	page     int
	shown    *register.Page
	by       map[uint16]bool // who has shown the page
	decided  bool
	wanted   map[string]record.Version // what of this page is agreed, and has yet to be copied
	asked    int                       // when a value was asked for last
	rewrites []*rewrite                // of all pages
}

// showing is what an old member shows of a page at one moment: which versions it holds, and the state of the slot.
type showing struct {
	meta     record.SlotMeta
	versions map[string]record.Version // of records
}

// pages returns how many pages the slot has: one for each key that there may be.
func (c *collection) pages() int { return len(c.node.sim.keysOf(c.epoch.slot)) }

// keys returns the keys of the page.
func (c *collection) keys() []string { return c.node.sim.keysOf(c.epoch.slot)[c.page : c.page+1] }

// collect has the node collect, unless it does.
func (n *node) collect(t *transfer) {
	n.do(func() {
		e := t.epoch
		if n.lost || !n.meet(e.slot, e.number) {
			return
		}
		if c := n.collecting[e.slot]; c != nil && c.transfer == t && c.life == n.life {
			return
		}
		c := &collection{node: n, transfer: t, epoch: e, life: n.life}
		if noted := n.store.staged.slots[e.slot].noted; n.sim.notes && noted.epoch == e.number {
			n.sim.count("collection-resumed", 1)
			c.page = noted.page
		}
		c.begin()
		n.collecting[e.slot] = c
		c.step()
	})
}

// begin begins with a page.
func (c *collection) begin() {
	c.shown, c.by = register.NewPage(c.epoch.config, c.node.id), map[uint16]bool{}
	c.decided, c.wanted, c.asked = false, map[string]record.Version{}, 0
}

// current reports whether the collection is still of use: not in another epoch, nor in another life.
func (c *collection) current() bool {
	n := c.node
	return n.up && n.life == c.life && n.collecting[c.epoch.slot] == c && !n.lost && !n.damaged[c.epoch.slot] &&
		n.epochs[c.epoch.slot] == c.epoch && n.adopt(c.epoch.slot, c.epoch.number)
}

// step does what can be done, again and again.
func (c *collection) step() {
	n, s := c.node, c.node.sim
	if n.life != c.life || n.collecting[c.epoch.slot] != c || s.changes[c.epoch.slot] != c.transfer {
		return
	}
	n.do(func() {
		if c.current() {
			c.advance()
		}
	})
	s.after(8+s.rand.IntN(12), c.step)
}

func (c *collection) advance() {
	n, s := c.node, c.node.sim
	for _, w := range c.rewrites {
		if !w.done && s.now-w.sent >= resend {
			w.ask()
		}
	}
	switch {
	case c.page == c.pages():
		if c.written() {
			n.hold(func() { s.carry(n.id, 0, func() { c.transfer.done[n.id] = true }) })
		}
	case !c.decided && c.shown.Enough():
		c.decide()
	case !c.decided:
		c.ask()
	case len(c.wanted) > 0:
		c.askForValues()
	default:
		c.page++
		c.begin()
		if c.written() {
			_ = n.store.note(c.epoch.slot, note{c.epoch.number, c.page})
		}
	}
}

// written reports whether all that had to be written again is.
func (c *collection) written() bool {
	return !slices.ContainsFunc(c.rewrites, func(w *rewrite) bool { return !w.done })
}

// ask asks old members for the page, now some, now others.
func (c *collection) ask() {
	n, s, page, keys := c.node, c.node.sim, c.page, c.keys()
	for _, id := range c.epoch.members {
		if !c.by[id] && !s.chance(3) {
			s.carry(n.id, id, func() {
				s.nodes[id].showPage(n.id, c.epoch, keys, func(shown *showing) { s.carry(id, n.id, func() { c.take(page, id, shown) }) })
			})
		}
	}
}

// showPage lets an old member show what it holds of some keys. Being in the joint epoch first fences it: it accepts nothing of the
// old epoch that it does not show.
func (n *node) showPage(to uint16, e *epoch, keys []string, reply func(*showing)) {
	n.do(func() {
		if n.lost || n.sim.silent[[2]uint16{n.id, to}] || n.damaged[e.slot] || n.store.failing || !n.meet(e.slot, e.number) || !n.adopt(e.slot, e.number) {
			return
		}
		shown := showing{meta: n.acceptors[e.slot].Meta(), versions: map[string]record.Version{}}
		for _, key := range keys {
			rec, held, err := n.store.Get(e.slot, []byte(key))
			if err != nil {
				n.damage(e.slot, err)
				return
			}
			if held {
				shown.versions[key] = rec.Version
			}
		}
		n.hold(func() { reply(&shown) })
	})
}

// take takes what a member shows of a page. As soon as a majority has shown it, or when some more have, it is decided what becomes of it.
func (c *collection) take(page int, from uint16, shown *showing) {
	c.node.do(func() {
		if !c.current() || c.page != page || c.decided {
			return
		}
		if !c.by[from] {
			c.by[from] = c.shown.Show(from, shown.meta)
			for key, version := range shown.versions {
				c.shown.Record(from, []byte(key), version)
			}
		}
		if c.shown.Enough() && (len(c.by) == len(c.epoch.members) || !c.node.sim.chance(3)) {
			c.decide()
		}
	})
}

// askForValues asks, for each value that is wanted, one of those that showed its version.
func (c *collection) askForValues() {
	n, s := c.node, c.node.sim
	if s.now-c.asked < resend && c.asked > 0 {
		return
	}
	c.asked = s.now
	for _, key := range c.keys() {
		v, wanted := c.wanted[key]
		if !wanted {
			continue
		}
		for _, id := range s.shuffled(c.epoch.members) {
			if c.shown.Shows(id, register.Agreed{Key: []byte(key), Version: v}) {
				s.carry(n.id, id, func() {
					s.nodes[id].showValue(c.epoch, key, func(rec record.Record) { s.carry(id, n.id, func() { c.takeValue(key, rec) }) })
				})
				break
			}
		}
	}
}

// showValue lets an old member show what it holds of a key by now.
func (n *node) showValue(e *epoch, key string, reply func(record.Record)) {
	n.do(func() {
		if n.lost || n.damaged[e.slot] || n.store.failing {
			return
		}
		rec, _, err := n.store.Get(e.slot, []byte(key))
		if err != nil {
			n.damage(e.slot, err)
			return
		}
		rec.State = clone(rec.State.Packed())
		n.hold(func() { reply(rec) })
	})
}

// takeValue copies what was agreed if it is that. If the member holds something newer by now, nobody knows whether that is agreed.
func (c *collection) takeValue(key string, rec record.Record) {
	n, slot := c.node, c.epoch.slot
	n.do(func() {
		v, wanted := c.wanted[key]
		if !c.current() || !wanted {
			return
		}
		acceptor, w := n.acceptors[slot], &n.ready.Write
		copied, err := acceptor.Copy(register.Agreed{Key: []byte(key), Version: v}, rec, w)
		if err == nil && w.Wanted() {
			err = acceptor.Persisted(w, n.store.persist(w))
		}
		if err != nil {
			n.damage(slot, err)
			return
		}
		delete(c.wanted, key)
		if !copied {
			n.sim.count("value-newer", 1)
			c.rewrite(key)
			return
		}
		n.sim.count("copied", 1)
	})
}

func (c *collection) rewrite(key string) {
	c.node.sim.count("rewritten", 1)
	c.rewrites = append(c.rewrites, &rewrite{collection: c, cmd: cmd{Name: "repair", Key: key, Slot: c.epoch.slot}, sent: c.node.sim.now - resend})
}
