package sim

import "github.com/quolldb/quoll/node/register"

// decide says what becomes of a page that a majority of the old members have shown: what is copied, and what a home has to write again.
func (c *collection) decide() {
	n, slot := c.node, c.epoch.slot
	acceptor, w := n.acceptors[slot], &n.ready.Write
	if acceptor.TakeOver(c.shown, w); w.Wanted() {
		if w.Kind == register.WriteClear && w.Meta.Unsure {
			n.sim.count("clear-unsure", 1)
		}
		if err := acceptor.Persisted(w, n.store.persist(w)); err != nil {
			n.damage(slot, err)
			return
		}
	}
	for _, key := range c.keys() {
		c.shown.Key([]byte(key))
	}
	copies, again, err := c.shown.Decide(acceptor)
	if err != nil {
		n.damage(slot, err)
		return
	}
	for _, a := range copies {
		c.wanted[string(a.Key)] = a.Version
	}
	for _, key := range again {
		c.rewrite(string(key))
	}
	c.decided = true
}
