package watch

import (
	"bytes"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
)

// prefixes are the prefixes of keys that are watched. They are few: a write looks at each of them.
type prefixes struct {
	any  atomic.Bool
	mu   sync.RWMutex
	list []prefix
}

// prefix is that a connection wants to hear of the keys that begin so.
type prefix struct {
	by    *Watcher
	id    uint64
	begin string
}

func (p *prefixes) add(one prefix) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = append(p.list, one)
	p.any.Store(true)
}

func (p *prefixes) remove(by *Watcher, id uint64) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.list = slices.DeleteFunc(p.list, func(one prefix) bool { return one.by == by && one.id == id })
	p.any.Store(len(p.list) > 0)
}

// changed tells those that watch how a key begins of a version of it. Of what Quoll keeps beside the keys of clients nobody hears.
func (p *prefixes) changed(slot uint16, key []byte, version record.Version) {
	if !p.any.Load() || database.Own(key) {
		return
	}
	_, name := database.Split(key)
	p.mu.RLock()
	defer p.mu.RUnlock()
	for _, one := range p.list {
		if bytes.HasPrefix(name, []byte(one.begin)) {
			one.tell(&protocol.PrefixChange{Slot: slot, Version: version, Key: name})
		}
	}
}

// cleared tells all of them that the keys of a slot are gone.
func (p *prefixes) cleared(slot uint16, version record.Version) {
	if !p.any.Load() {
		return
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	for _, one := range p.list {
		one.tell(&protocol.PrefixChange{Slot: slot, Version: version, Cleared: true})
	}
}

// tell tells a connection of a change, with the next Flush.
func (p *prefix) tell(c *protocol.PrefixChange) {
	c.ID = p.id
	w := p.by
	w.mu.Lock()
	defer w.mu.Unlock()
	if len(w.gathered) == 0 {
		w.gathered = wire.BeginFrame(w.gathered, protocol.FramePrefixChanged)
	}
	if w.gathered = protocol.AppendPrefixChange(w.gathered, c); len(w.gathered) > maxGathered {
		w.flush()
	}
}

// maxGathered bounds the bytes of changes that are told together.
const maxGathered = 64 << 10

// flush tells what has been gathered. It does not wait. The lock is held.
func (w *Watcher) flush() {
	if len(w.gathered) > 0 {
		_ = w.conn.SendFrames(wire.EndFrame(w.gathered, 0)) // a lost connection forgets all it watches
		w.gathered = w.gathered[:0]
	}
}

// Flush tells of the keys that begin in some way and have changed: together, so that who hears of it hears of the keys of one write together, as far as a node was sent them together. It has to be called
// before anybody hears that they were staged.
func (t *Table) Flush() {
	p := &t.prefixes
	if !p.any.Load() {
		return
	}
	p.mu.RLock()
	defer p.mu.RUnlock()
	for _, one := range p.list {
		one.by.mu.Lock()
		one.by.flush()
		one.by.mu.Unlock()
	}
}
