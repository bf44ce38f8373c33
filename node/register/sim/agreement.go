package sim

import (
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/proxy/quorum"
)

// decide says what becomes of a page that a majority of the old members have shown: what is copied, and what a home has to write again.
func (c *collection) decide() {
	n, slot := c.node, c.epoch.slot
	if !c.takeMeta() {
		return
	}
	for _, key := range c.keys() {
		own, present, err := n.acceptors[slot].Read([]byte(key))
		if err != nil {
			n.damage(slot, err)
			return
		}
		v, agreed := c.agreed(func(from *showing) (record.Version, bool) { return from.version(key) })
		stays := !c.epoch.joins(n.id)
		switch {
		case !agreed && (c.somebodyShows(key) || stays && present):
			c.rewrite(key)
		case agreed && stays && present && v.Less(own.Version): // nobody else may have seen it
			c.rewrite(key)
		case agreed && own.Version.Less(v):
			c.wanted[key] = v
		}
	}
	c.decided = true
}

// takeMeta takes over what was shown of the slot as a whole: the highest floor and promise, and the clear that is agreed. If none is, it
// takes the highest, which is unsure then. A clear raises the floor as well: who has a write in doubt that it removed may find neither of them (R11). It reports false
// if that cannot be written now.
func (c *collection) takeMeta() bool {
	n, slot := c.node, c.epoch.slot
	meta := n.acceptors[slot].Meta()
	own, unsure := meta.Cleared, false
	cleared, agreed := c.agreed(func(from *showing) (record.Version, bool) { return from.meta.Cleared, !from.meta.Unsure })
	for _, shown := range c.shown {
		meta.Floor = record.Max(meta.Floor, record.Max(shown.meta.Floor, shown.meta.Cleared))
		if meta.Promised.Less(shown.meta.Promised) {
			meta.Promised = shown.meta.Promised
		}
		if !agreed && cleared.Less(shown.meta.Cleared) {
			cleared, unsure = shown.meta.Cleared, true
		}
	}
	var err error
	switch {
	case own.Less(cleared):
		if unsure {
			n.sim.count("clear-unsure", 1)
		}
		meta.Cleared, meta.Unsure = cleared, unsure
		err = n.store.Clear(slot, meta)
	case own == cleared && agreed:
		meta.Unsure = false
		fallthrough
	default:
		err = n.store.PutSlot(slot, meta)
	}
	if err != nil {
		n.damage(slot, err)
		return false
	}
	n.open(slot) // the acceptor reads its slot again
	return true
}

// agreed returns what a majority of the old members show in one and the same version. What is unsure is agreed on with nobody.
func (c *collection) agreed(of func(*showing) (v record.Version, sure bool)) (record.Version, bool) {
	votes := map[record.Version]int{}
	for _, from := range c.shown {
		if v, sure := of(from); sure {
			if votes[v]++; votes[v] == quorum.Majority(len(c.epoch.members)) {
				return v, true
			}
		}
	}
	return record.Version{}, false
}

func (c *collection) somebodyShows(key string) bool {
	for _, from := range c.shown {
		if _, held := from.versions[key]; held {
			return true
		}
	}
	return false
}

// version returns what is shown of a key: its record's version or, without one, that of the slot's clear.
func (from *showing) version(key string) (v record.Version, sure bool) {
	if v, held := from.versions[key]; held {
		return v, true
	}
	return from.meta.Cleared, !from.meta.Unsure
}
