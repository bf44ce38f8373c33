package route

import (
	"encoding/binary"
	"slices"
	"time"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/ring"
)

// prefixWatch is the beginning of keys of which a proxy hears, whoever reads them. All nodes watch it. A version is told whenever a replica tells of it, until a majority has: whoever reads
// before may still get the value before it, and whoever reads after does not.
type prefixWatch struct {
	of     *watches
	id     uint64
	prefix []byte
	told   func(changed []Changed)

	// Under of.mu:
	view   *ringView     // that was asked
	slots  []uint16      // one of all that have the same members
	held   []*nodeLink   // those that have said that they watch it
	sure   bool          // they are a majority of each slot
	steady chan struct{} // as of a Watch
	begun  bool          // somebody counts on what is told
	heard  map[version]*tellers
	now    int // in ticks
	gather
}

// version is a version of a key, or of all keys of a slot.
type version struct {
	slot    uint16
	cleared bool
	key     string
	version record.Version
}

// tellers are who has told of a version.
type tellers struct {
	by    []*nodeLink
	most  bool // they are a majority: whoever reads gets this version, or a later one
	since int  // in ticks
}

// A version is remembered until all have told of it that may, for keepVersions ticks of a second at most, and maxVersions at a time. Of who tells later it is told once more.
const (
	maxVersions  = 1 << 16
	keepVersions = 2
)

// news is what is told: which keys may have changed, or that any may have, if it is nil.
type news struct {
	w       *prefixWatch
	changed []Changed
}

// tellNews tells whoever wanted to hear. No lock is held.
func tellNews(list []news) {
	for _, n := range list {
		n.w.told(n.changed)
	}
}

// WatchPrefix implements Cluster.
func (c *Coordinator) WatchPrefix(prefix []byte, told func(changed []Changed)) Watching {
	ws := &c.watches
	w := &prefixWatch{of: ws, prefix: buffer.Clone(prefix), told: told, heard: map[version]*tellers{}}
	ws.mu.Lock()
	defer ws.mu.Unlock()
	ws.next++
	w.id = ws.next
	if ws.prefixes == nil {
		ws.prefixes = map[uint64]*prefixWatch{}
	}
	ws.prefixes[w.id] = w
	if view := c.ring.Load(); view != nil {
		w.ask(view)
	}
	return w
}

// request is the frame that asks a node to watch it.
func (w *prefixWatch) request() []byte {
	return protocol.WatchFrame(&protocol.WatchRequest{ID: w.id, Kind: protocol.WatchPrefix, Key: w.prefix})
}

// ask asks all nodes that do not watch it yet. The lock is held.
func (w *prefixWatch) ask(view *ringView) {
	w.view, w.slots = view, alike(view.table)
	for _, l := range view.nodes {
		if !slices.Contains(w.held, l) {
			_ = l.link.SendFrames(w.request()) // it is asked again when its link is up
		}
	}
}

// alike returns one slot of all that have the same members.
func alike(table *ring.Table) (slots []uint16) {
	known, name := map[string]bool{}, []byte(nil)
	for slot := range uint16(ring.Slots) {
		name = binary.LittleEndian.AppendUint16(name[:0], uint16(len(table.Replicas(slot))))
		for _, id := range table.Replicas(slot) {
			name = binary.LittleEndian.AppendUint16(name, id)
		}
		for _, id := range table.Next(slot) {
			name = binary.LittleEndian.AppendUint16(name, id)
		}
		if !known[string(name)] {
			known[string(name)] = true
			slots = append(slots, slot)
		}
	}
	return slots
}

// End implements Watching.
func (w *prefixWatch) End() {
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	if w.of.prefixes[w.id] == nil {
		return
	}
	delete(w.of.prefixes, w.id)
	settle(&w.steady)
	if view := w.of.coordinator.ring.Load(); view != nil {
		for _, l := range view.nodes {
			_ = l.link.SendFrames(protocol.WatchFrame(&protocol.WatchRequest{ID: w.id, Kind: protocol.Unwatch})) // a lost connection forgets what it watched
		}
	}
}

// Await implements Watching.
func (w *prefixWatch) Await(patience time.Duration) bool {
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	w.of.await(&w.steady, patience, func() bool { return w.sure || w.of.prefixes[w.id] == nil })
	w.begun = true
	return w.sure
}

// weigh finds out whether a majority of each slot's members watch it, and are heard. If they do since now, something may have changed before. The lock is held.
func (w *prefixWatch) weigh(view *ringView, list []news) []news {
	was := w.sure
	w.sure = !slices.ContainsFunc(w.slots, func(slot uint16) bool {
		return view.table.Spare(slot, func(id uint16) bool { return hears(w.held, view.node(id)) }) < 0
	})
	if w.sure {
		settle(&w.steady)
	}
	if w.begun && w.sure && !was {
		list = append(list, news{w: w})
	}
	return list
}

// lose is called when a node is not heard any more: what it has told may be lost. The lock is held.
func (w *prefixWatch) lose(view *ringView, list []news) []news {
	list = w.weigh(view, list)
	if w.begun {
		list = append(list, news{w: w})
	}
	return list
}

// hear notes that a node has told of a change, and that it is to be told, unless a majority told of it before. The lock is held.
func (w *prefixWatch) hear(view *ringView, l *nodeLink, c *protocol.PrefixChange) {
	of := version{c.Slot, c.Cleared, string(c.Key), c.Version}
	h := w.heard[of]
	if h == nil {
		h = &tellers{since: w.now}
		w.heard[of] = h
	}
	if !slices.Contains(h.by, l) {
		h.by = append(h.by, l)
	}
	tell := !h.most
	h.most = view.table.Spare(of.slot, func(id uint16) bool { return slices.Contains(h.by, view.node(id)) }) >= 0
	if !slices.ContainsFunc(view.table.Members(of.slot), func(id uint16) bool { l := view.node(id); return hears(w.held, l) && !slices.Contains(h.by, l) }) {
		delete(w.heard, of)
	}
	if tell {
		w.keep(of, h)
	}
}

// tick forgets the versions that are old. As long as no majority is heard it says that anything may have changed. The lock is held.
func (w *prefixWatch) tick(view *ringView, list []news) []news {
	w.now++
	many := len(w.heard) > maxVersions
	for of, h := range w.heard {
		if many || w.now-h.since > keepVersions {
			delete(w.heard, of)
		}
	}
	if many || w.begun && !w.sure {
		list = append(list, news{w: w})
	}
	return list
}

// prefixChanges tells what a node has told of keys that begin in some way.
func (ws *watches) prefixChanges(l *nodeLink, changes []protocol.PrefixChange) {
	ws.mu.Lock()
	view := ws.coordinator.ring.Load()
	var list []news
	var heard []*prefixWatch
	for i := range changes {
		c := &changes[i]
		if w := ws.prefixes[c.ID]; w != nil && view != nil {
			w.hear(view, l, c)
			if !slices.Contains(heard, w) {
				heard = append(heard, w)
			}
		}
	}
	for _, w := range heard {
		list = w.gathered(list)
	}
	ws.mu.Unlock()
	tellNews(list)
}

// prefixesMoved asks nodes that are new. Where a slot has other members now they may have had writes before that, of which nobody has told. The lock is held.
func (ws *watches) prefixesMoved(view *ringView) (list []news) {
	for _, w := range ws.prefixes {
		before := w.view
		left := len(w.held)
		w.held = slices.DeleteFunc(w.held, func(l *nodeLink) bool { return view.node(l.id) != l })
		w.ask(view)
		if len(w.held) < left || before == nil || otherMembers(before.table, view.table) {
			list = w.lose(view, list)
		} else {
			list = w.weigh(view, list)
		}
	}
	return list
}

// otherMembers reports whether slots may have other members than before.
func otherMembers(before, now *ring.Table) bool {
	for slot := range uint16(ring.Slots) {
		if before.Epoch(slot) != now.Epoch(slot) {
			return true
		}
	}
	return false
}
