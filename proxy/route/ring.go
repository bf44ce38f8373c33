package route

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/prefetch"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/ring"
)

// ringView is the ring and the links to its nodes. It is immutable, but for homes.
type ringView struct {
	formation uint64       // tells the ring from others
	cluster   ring.Cluster // whoever may be connected with, be it that some hold nothing
	table     *ring.Table
	known     time.Time   // since when
	nodes     []*nodeLink // in the order of cluster.Members
	byID      []*nodeLink // of former members too: what they had is answered by nobody, and their links are closed; and of lives that are lost, which were never open

	// homes are the members that led the slots last, 0 for the preferred one. They are
	// hints: any replica may lead.
	homes [ring.Slots]atomic.Uint32
}

// manage owns the links, first to the seeds, then to the members of the ring, and learns the ring.
func (c *Coordinator) manage(seeds []*nodeLink) {
	ticker := time.NewTicker(askInterval)
	defer ticker.Stop()
	defer func() {
		closeLinks(seeds)
		if view := c.ring.Load(); view != nil {
			closeLinks(view.nodes)
		}
	}()
	for {
		select {
		case <-c.ctx.Done():
			return
		case <-c.heard.wake:
		case <-ticker.C: // for those that do not answer yet
		}
		seeds = c.seek(seeds)
		if c.askHeard() {
			closeLinks(seeds)
			seeds = nil
		}
	}
}

// seek returns the links to nodes that are no members of the ring: if nobody is left of it, nodes that were refused, since they are part of another one, are
// asked for that.
func (c *Coordinator) seek(seeds []*nodeLink) []*nodeLink {
	view := c.ring.Load()
	switch {
	case view == nil:
		return seeds
	case view.anyUp():
		closeLinks(seeds)
		return nil
	case len(seeds) > 0:
		return seeds
	}
	for _, l := range view.nodes {
		if l.elsewhere.Swap(false) {
			seeds = append(seeds, c.newLink(ring.Member{Peer: l.address}, 0, 0))
		}
	}
	return seeds
}

func closeLinks(links []*nodeLink) {
	for _, l := range links {
		l.link.Close()
	}
}

// adopt makes a ring effective: the first one, or one that replaces it because no
// node is part of the old one any more (a memory cluster that was restarted as a whole).
func (c *Coordinator) adopt(formation uint64, cluster ring.Cluster, table *ring.Table) bool {
	old := c.ring.Load()
	if old != nil && (old.formation == formation || old.anyUp()) {
		return false
	}
	view := c.newView(formation, cluster, table, old)
	c.ring.Store(view)
	c.chosen.forget()
	c.place()
	c.watches.moved(view)
	if old != nil {
		closeLinks(old.nodes)
	}
	c.log.Info("the ring is known", "epoch", cluster.Epoch, "nodes", len(cluster.Members), "replicas", cluster.Replicas)
	return true
}

// learn makes a later version of the ring effective. What is under way goes on with it. It reports false if the version is no news.
func (c *Coordinator) learn(cluster ring.Cluster, table *ring.Table) bool {
	old := c.ring.Load()
	if old == nil || table.Version() <= old.table.Version() {
		return false
	}
	view := c.newView(old.formation, cluster, table, old)
	for slot := range view.homes {
		view.homes[slot].Store(uint32(homeAfter(old, view, uint16(slot))))
	}
	c.ring.Store(view)
	c.place()
	c.watches.moved(view)
	for _, l := range old.nodes {
		if !slices.Contains(view.nodes, l) {
			c.retire(l)
		}
	}
	c.log.Debug("the ring has changed", "version", table.Version())
	return true
}

// newView returns a view of a ring, for what is under way by the view before, if there is one, too. The links to members that have not changed are the same if it is
// a later version of the same ring.
func (c *Coordinator) newView(formation uint64, cluster ring.Cluster, table *ring.Table, before *ringView) *ringView {
	view := &ringView{formation: formation, cluster: cluster, table: table, known: time.Now()}
	later := before != nil && before.formation == formation
	if before != nil {
		view.byID = slices.Clone(before.byID)
	}
	if later {
		view.known = before.known
	}
	taken := map[int]bool{}
	for _, m := range cluster.Members {
		view.reach(m.ID)
		if l := view.byID[m.ID]; l != nil && later && l.address == m.Peer && l.generation == m.Generation {
			taken[l.index] = true
		} else {
			view.byID[m.ID] = nil
		}
	}
	index, open := 0, make(map[uint16]bool, len(cluster.Members))
	for _, m := range cluster.Members {
		l := view.byID[m.ID]
		if l == nil {
			for taken[index] {
				index++
			}
			l = c.newLink(m, formation, cluster.Epoch)
			l.index = index
			index++
		}
		l.isIn(m.Rack)
		view.nodes, view.byID[m.ID], open[m.ID] = append(view.nodes, l), l, true
	}
	for slot := range uint16(ring.Slots) {
		for _, id := range table.Members(slot) {
			view.reach(id)
			if !open[id] { // a life that is lost: nobody answers
				view.byID[id], open[id] = c.closedLink(ring.Member{ID: id}, formation), true
			}
		}
	}
	return view
}

// reach makes room for a member.
func (v *ringView) reach(id uint16) {
	for int(id) >= len(v.byID) {
		v.byID = append(v.byID, nil)
	}
}

func (v *ringView) anyUp() bool {
	for _, l := range v.nodes {
		if l.link.State() != wire.Down {
			return true
		}
	}
	return false
}

// prefetch brings near, in the processor's caches, where the replicas of a slot are found.
func (v *ringView) prefetch(slot uint16) {
	if v != nil && slot < ring.Slots {
		v.table.PrefetchReplicas(slot)
		prefetch.Of(&v.homes[slot])
	}
}

// node returns the link to a member, nil for strangers.
func (v *ringView) node(id uint16) *nodeLink {
	if int(id) >= len(v.byID) {
		return nil
	}
	return v.byID[id]
}
