package route

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/ring"
)

// Watch is a key of which a proxy hears when it changes: from any replica that is sent a newer version of it. A majority of the replicas know that, so that no write that is
// chosen can pass by: two majorities share a member (package protocol, watch.go). While no majority knows it, and whenever that may have been so, the key may have
// changed, and that is told too.
type Watch struct {
	of      *watches
	id      uint64
	kind    protocol.WatchKind
	key     []byte
	slot    uint16
	changed func()

	// Under of.mu:
	epoch  uint64         // of the slot, as of which its members were asked
	held   []*nodeLink    // those that have said that they watch it
	sure   bool           // those of them that are heard are a majority
	heard  record.Version // the newest that was told
	steady chan struct{}  // closed when sure is set, or when it has ended; nil if nobody waits for that
}

// watches are all that a proxy watches.
type watches struct {
	coordinator *Coordinator

	mu       sync.Mutex
	next     uint64
	all      map[uint64]*Watch
	prefixes map[uint64]*prefixWatch

	timer func(func()) // instead of time.AfterFunc, nil but in simulations
}

// Watch implements Cluster.
func (c *Coordinator) Watch(key []byte, kind protocol.WatchKind, changed func()) Watching {
	w := &Watch{of: &c.watches, kind: kind, key: buffer.Clone(key), slot: ring.SlotOf(key), changed: changed}
	c.watches.add(w)
	return w
}

// add asks the replicas to watch a key.
func (ws *watches) add(w *Watch) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	if ws.all == nil {
		ws.all = map[uint64]*Watch{}
	}
	ws.next++
	w.id = ws.next
	ws.all[w.id] = w
	if view := ws.coordinator.ring.Load(); view != nil {
		ws.ask(view, w)
	}
}

// End ends that the key is watched. Nothing is told once it has returned, but for what is told at the moment.
func (w *Watch) End() {
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	if w.of.all[w.id] == nil {
		return
	}
	delete(w.of.all, w.id)
	settle(&w.steady)
	w.drop(w.of.coordinator.ring.Load(), nil)
}

// ask asks the members of a key's slot to watch it, that do not yet. The lock is held.
func (ws *watches) ask(view *ringView, w *Watch) {
	w.epoch = view.table.Epoch(w.slot)
	request := protocol.WatchRequest{ID: w.id, Kind: w.kind, Slot: w.slot, Key: w.key}
	for _, id := range view.table.Members(w.slot) {
		if l := view.node(id); !slices.Contains(w.held, l) {
			_ = l.link.SendFrames(protocol.WatchFrame(&request)) // it is asked again when its link is up
		}
	}
}

// drop asks the members of the slot to watch the key no longer, but for one that does not any more. The lock is held.
func (w *Watch) drop(view *ringView, not *nodeLink) {
	if view == nil {
		return
	}
	end := protocol.WatchFrame(&protocol.WatchRequest{ID: w.id, Kind: protocol.Unwatch})
	for _, id := range view.table.Members(w.slot) {
		if l := view.node(id); l != not {
			_ = l.link.SendFrames(end) // a lost connection forgets what it watched
		}
	}
}

// weigh finds out whether a majority of the slot's replicas, and of those that it moves to, watch the key and are heard, and reports whether that is so since now. The lock is held.
func (w *Watch) weigh(view *ringView) (since bool) {
	was := w.sure
	if w.sure = view.table.Spare(w.slot, func(id uint16) bool { return hears(w.held, view.node(id)) }) >= 0; w.sure {
		settle(&w.steady)
	}
	return w.sure && !was
}

// hears reports whether a node watches something, and is heard.
func hears(held []*nodeLink, l *nodeLink) bool { return slices.Contains(held, l) && l.up.Load() }

// settle has those go on who wait for something to be watched. The lock is held.
func settle(steady *chan struct{}) {
	if *steady != nil {
		close(*steady)
		*steady = nil
	}
}

// Await implements Watching.
func (w *Watch) Await(patience time.Duration) bool {
	w.of.mu.Lock()
	defer w.of.mu.Unlock()
	w.of.await(&w.steady, patience, func() bool { return w.sure || w.of.all[w.id] == nil })
	return w.sure
}

// await waits until something is watched, or has ended. The lock is held, but not while it waits.
func (ws *watches) await(steady *chan struct{}, patience time.Duration, done func() bool) {
	if done() || patience <= 0 {
		return
	}
	if *steady == nil {
		*steady = make(chan struct{})
	}
	settled := *steady
	ws.mu.Unlock()
	timer := time.NewTimer(patience)
	select {
	case <-settled:
	case <-timer.C:
	}
	timer.Stop()
	ws.mu.Lock()
}

// due notes that something may have changed. What is told once is not watched any more, at those that do not know that. The lock is held.
func (ws *watches) due(told []*Watch, w *Watch, view *ringView, knows *nodeLink) []*Watch {
	if w.kind == protocol.WatchOnce {
		delete(ws.all, w.id)
		settle(&w.steady)
		w.drop(view, knows)
	}
	return append(told, w)
}

// up asks a node that has just been connected for all that it is to watch.
func (ws *watches) up(l *nodeLink) {
	ws.mu.Lock()
	defer ws.mu.Unlock()
	view := ws.coordinator.ring.Load()
	if view == nil || view.node(l.id) != l {
		return
	}
	var frames []byte
	for _, w := range ws.prefixes {
		frames = append(frames, w.request()...)
	}
	for _, w := range ws.all {
		if !view.table.Contains(w.slot, l.id) {
			continue
		}
		frames = append(frames, protocol.WatchFrame(&protocol.WatchRequest{ID: w.id, Kind: w.kind, Slot: w.slot, Key: w.key})...)
		if len(frames) > manyWatches {
			_ = l.link.SendFrames(frames) // if it is down again there will be another time
			frames = frames[:0]
		}
	}
	_ = l.link.SendFrames(frames)
}

// manyWatches is how many bytes of requests are sent at once.
const manyWatches = 256 << 10

// down forgets that a node watches anything.
func (ws *watches) down(l *nodeLink) {
	ws.mu.Lock()
	view := ws.coordinator.ring.Load()
	var told []*Watch
	for _, w := range ws.all {
		i := slices.Index(w.held, l)
		if i < 0 {
			continue
		}
		w.held = slices.Delete(w.held, i, i+1)
		if view != nil {
			w.weigh(view)
		}
		told = ws.due(told, w, view, l) // what it has told may be lost
	}
	var list []news
	for _, w := range ws.prefixes {
		if i := slices.Index(w.held, l); i >= 0 {
			w.held = slices.Delete(w.held, i, i+1)
			if view != nil {
				list = w.lose(view, list)
			}
		}
	}
	ws.mu.Unlock()
	tell(told)
	tellNews(list)
}

// suspected is called when a node is not heard any more, though it is connected, and when it is heard again. What it tells meanwhile comes late, or never.
func (ws *watches) suspected(l *nodeLink) {
	lost := !l.up.Load()
	ws.mu.Lock()
	view := ws.coordinator.ring.Load()
	var told []*Watch
	var list []news
	for _, w := range ws.all {
		if view == nil || !slices.Contains(w.held, l) {
			continue
		}
		if since := w.weigh(view); lost || since && w.kind != protocol.WatchOnce {
			told = ws.due(told, w, view, nil)
		}
	}
	for _, w := range ws.prefixes {
		switch {
		case view == nil || !slices.Contains(w.held, l):
		case lost:
			list = w.lose(view, list)
		default:
			list = w.weigh(view, list)
		}
	}
	ws.mu.Unlock()
	tell(told)
	tellNews(list)
}

// watched notes that a node watches keys from now on.
func (ws *watches) watched(l *nodeLink, ids []uint64) {
	ws.mu.Lock()
	view := ws.coordinator.ring.Load()
	var told []*Watch
	var list []news
	for _, id := range ids {
		if w := ws.prefixes[id]; w != nil && view != nil && !slices.Contains(w.held, l) {
			w.held = append(w.held, l)
			list = w.weigh(view, list)
		}
		w := ws.all[id]
		if w == nil || view == nil || slices.Contains(w.held, l) {
			continue
		}
		w.held = append(w.held, l)
		if w.weigh(view) && w.kind != protocol.WatchOnce { // it may have changed before
			told = append(told, w)
		}
	}
	ws.mu.Unlock()
	tell(told)
	tellNews(list)
}

// changes tells what a node has told.
func (ws *watches) changes(l *nodeLink, list []protocol.KeyChange) {
	ws.mu.Lock()
	view := ws.coordinator.ring.Load()
	var told []*Watch
	for _, c := range list {
		w := ws.all[c.ID]
		if w == nil || !w.heard.Less(c.Version) {
			continue
		}
		w.heard = c.Version
		told = ws.due(told, w, view, l)
	}
	ws.mu.Unlock()
	tell(told)
}

// moved asks the members that slots have now. What they were sent before they were asked nobody has told.
func (ws *watches) moved(view *ringView) {
	ws.mu.Lock()
	var told []*Watch
	for _, w := range ws.all {
		left := len(w.held)
		w.held = slices.DeleteFunc(w.held, func(l *nodeLink) bool { return view.node(l.id) != l })
		if len(w.held) == left && w.epoch == view.table.Epoch(w.slot) {
			w.weigh(view)
			continue
		}
		if told = ws.due(told, w, view, nil); w.kind != protocol.WatchOnce {
			ws.ask(view, w)
			w.weigh(view)
		}
	}
	list := ws.prefixesMoved(view)
	ws.mu.Unlock()
	tell(told)
	tellNews(list)
}

// run tells of what nobody may have told, once in a while.
func (ws *watches) run(ctx context.Context) {
	ticker := time.NewTicker(unsureInterval)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
			ws.unsure()
		}
	}
}

// unsureInterval is the time between two looks at keys that no majority watches.
const unsureInterval = time.Second

// unsure tells of all keys that no majority watches at the moment, as far as it is heard: they may have changed.
func (ws *watches) unsure() {
	ws.mu.Lock()
	view := ws.coordinator.ring.Load()
	var told []*Watch
	for _, w := range ws.all {
		if view == nil {
			continue
		}
		if since := w.weigh(view); !w.sure || since && w.kind != protocol.WatchOnce {
			told = ws.due(told, w, view, nil)
		}
	}
	var list []news
	for _, w := range ws.prefixes {
		if view != nil {
			list = w.tick(view, list)
		}
	}
	ws.mu.Unlock()
	tell(told)
	tellNews(list)
}

// tell tells whoever wanted to hear. No lock is held.
func tell(told []*Watch) {
	for _, w := range told {
		w.changed()
	}
}
