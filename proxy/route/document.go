package route

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/ring"
	"github.com/quolldb/quoll/ring/change"
)

// How a proxy learns the ring, from any node: each says which version it knows when it is connected, and when it knows a later one. The proxy asks for what has changed
// since its own, or, the first time, for all of it.

// heard is which nodes know a later version of the ring, or another ring, as far as this proxy has heard.
type heard struct {
	mu   sync.Mutex
	from map[*nodeLink]*rumour
	wake chan struct{}
}

// rumour is what a node knows, as far as it said so.
type rumour struct {
	news  protocol.RingNews
	tries int
}

func newHeard() heard { return heard{from: map[*nodeLink]*rumour{}, wake: make(chan struct{}, 1)} }

const (
	// askInterval is the time between two attempts to ask a node, and maxTries how often it is asked. It says so again when it knows the next version.
	askInterval = 100 * time.Millisecond
	maxTries    = 20
	// askTimeout is the time that a node has for its answer.
	askTimeout = 2 * time.Second
)

// hear notes what a node knows. It does not block.
func (c *Coordinator) hear(l *nodeLink, news protocol.RingNews) {
	if !c.isNews(news) {
		return
	}
	c.heard.note(l, news)
	select {
	case c.heard.wake <- struct{}{}:
	default:
	}
}

// note notes what a node knows. That it knows an earlier version is no news of it: it may be a guess (refusedEpoch).
func (h *heard) note(l *nodeLink, news protocol.RingNews) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if r := h.from[l]; r == nil || news.Supersedes(r.news) {
		h.from[l] = &rumour{news: news}
	}
}

// refusedEpoch notes that a node has refused something because the slot has changed: it may know a later version of the ring than this proxy.
func (c *Coordinator) refusedEpoch(id uint16) {
	if view := c.ring.Load(); view != nil && view.node(id) != nil {
		c.hear(view.node(id), protocol.RingNews{Formation: view.formation, Version: view.table.Version() + 1})
	}
}

// isNews reports whether a version of a ring is one that this proxy should learn.
func (c *Coordinator) isNews(n protocol.RingNews) bool {
	view := c.ring.Load()
	switch {
	case n.Formation == 0:
		return false
	case view == nil:
		return true
	case view.formation == n.Formation:
		return n.Version > view.table.Version()
	}
	return !view.anyUp()
}

// askHeard asks the nodes that know something else, until one has answered, and learns that. It reports whether it has.
func (c *Coordinator) askHeard() (learned bool) {
	c.heard.mu.Lock()
	var links []*nodeLink
	for l, r := range c.heard.from {
		if !c.isNews(r.news) || r.tries >= maxTries && c.ring.Load() != nil {
			delete(c.heard.from, l)
		} else if l.link.State() == wire.Up {
			r.tries++
			links = append(links, l)
		}
	}
	c.heard.mu.Unlock()
	for _, l := range links {
		doc, moved, err := c.fetch(l)
		if err != nil {
			c.log.Debug("a node did not say what has changed in the ring", "peer", l.address, "err", err)
		} else if c.take(doc, moved) {
			return true
		}
	}
	return false
}

// fetch asks a node for what has changed in the ring, or for all of it if that is of no use.
func (c *Coordinator) fetch(l *nodeLink) (change.Document, []protocol.Address, error) {
	ctx, cancel := context.WithTimeout(c.ctx, askTimeout)
	defer cancel()
	return protocol.FetchRing(c.document, func(method protocol.Method, payload []byte) ([]byte, error) {
		return l.caller.Call(ctx, method, payload)
	})
}

// take makes a document effective: the first one, a later version, or that of another ring, and reports whether it was news.
func (c *Coordinator) take(doc change.Document, moved []protocol.Address) bool {
	table, err := doc.Table()
	if err != nil {
		c.log.Error("the nodes' ring makes no sense", "err", err)
		return false
	}
	cluster := membersOf(protocol.Relocate(doc, moved))
	if c.ring.Load() == nil {
		c.learnUsers(&doc) // before anything is executed for somebody who may not
	}
	var took bool
	if view := c.ring.Load(); view != nil && view.formation == doc.Formation {
		took = c.learn(cluster, table)
	} else {
		took = c.adopt(doc.Formation, cluster, table)
	}
	if took {
		c.document = doc
		c.placed.Store(&doc.Placements) // after the version: a node that does not know it yet does nothing
		c.learnUsers(&doc)
		c.parameters.Store(doc.ParametersAt)
	}
	return took
}

// membersOf returns whoever may be connected with: all lives but those that are lost.
func membersOf(doc change.Document) ring.Cluster {
	c := doc.Lives()
	c.Members = slices.DeleteFunc(c.Members, func(m ring.Member) bool {
		l, _ := doc.Member(m.ID)
		return l.State == change.Lost
	})
	return c
}
