package route

import (
	"slices"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/ring"
)

// ringView is the ring and the links to its nodes. It is immutable, but for homes.
type ringView struct {
	cluster ring.Cluster
	digest  uint64
	table   *ring.Table
	known   time.Time   // since when
	nodes   []*nodeLink // in the order of cluster.Members
	byID    []*nodeLink // of former members too: what they had is answered by nobody, and their links are closed

	// homes are the members that led the slots last, 0 for the preferred one. They are
	// hints: any replica may lead.
	homes [ring.Slots]atomic.Uint32
}

// manage owns the links: first to the seeds, then to the members of the ring.
func (c *Coordinator) manage(seeds []*nodeLink) {
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
		case cluster := <-c.offers:
			if c.adopt(cluster) {
				closeLinks(seeds)
				seeds = nil
			}
		}
	}
}

func closeLinks(links []*nodeLink) {
	for _, l := range links {
		l.link.Close()
	}
}

// offer passes on a ring that a node told of. It does not block.
func (c *Coordinator) offer(cluster ring.Cluster) {
	select {
	case c.offers <- cluster:
	default: // another one is being looked at; the node says it again
	}
}

// adopt makes a ring effective: the first one, or one that replaces it because no
// node is part of the old one any more (a memory cluster that was restarted as a whole).
func (c *Coordinator) adopt(cluster ring.Cluster) bool {
	old := c.ring.Load()
	if old != nil && (old.digest == cluster.Digest() || old.anyUp()) {
		return false
	}
	table, err := ring.Plan(cluster)
	if err != nil {
		c.log.Error("the nodes' ring cannot be planned", "err", err)
		return false
	}
	c.ring.Store(c.newView(cluster, table, old, false))
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
	view := c.newView(cluster, table, old, true)
	for slot := range view.homes {
		if view.table.Epoch(uint16(slot)) == old.table.Epoch(uint16(slot)) {
			view.homes[slot].Store(old.homes[slot].Load())
		}
	}
	c.ring.Store(view)
	for _, l := range old.nodes {
		if !slices.Contains(view.nodes, l) {
			l.link.Close()
		}
	}
	c.log.Debug("the ring has changed", "version", table.Version())
	return true
}

// newView returns a view of a ring, for what is under way by the view before, if there is one, too. The links to members that have not changed are the same if it is
// a later version of the same ring.
func (c *Coordinator) newView(cluster ring.Cluster, table *ring.Table, before *ringView, later bool) *ringView {
	view := &ringView{cluster: cluster, digest: cluster.Digest(), table: table, known: time.Now()}
	if before != nil {
		view.byID = slices.Clone(before.byID)
	}
	if later {
		view.known = before.known
	}
	taken := map[int]bool{}
	for _, m := range cluster.Members {
		for int(m.ID) >= len(view.byID) {
			view.byID = append(view.byID, nil)
		}
		l := view.byID[m.ID]
		if l != nil && later && l.address == m.Peer && l.generation == m.Generation {
			taken[l.index] = true
		} else {
			view.byID[m.ID] = nil
		}
	}
	index := 0
	for _, m := range cluster.Members {
		l := view.byID[m.ID]
		if l == nil {
			for taken[index] {
				index++
			}
			l = c.newLink(m.ID, m.Peer, &cluster)
			l.index = index
			index++
		}
		view.nodes, view.byID[m.ID] = append(view.nodes, l), l
	}
	return view
}

func (v *ringView) anyUp() bool {
	for _, l := range v.nodes {
		if l.link.State() != wire.Down {
			return true
		}
	}
	return false
}

// node returns the link to a member, nil for strangers.
func (v *ringView) node(id uint16) *nodeLink {
	if int(id) >= len(v.byID) {
		return nil
	}
	return v.byID[id]
}
