package watch

import (
	"errors"
	"sync"
	"sync/atomic"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/ring"
)

// shards is how many locks the slots share.
const shards = 256

// maxKeys and maxBytes bound what one connection watches. The bytes count each key with what it takes beside its name.
const (
	maxKeys  = 1 << 21
	maxBytes = 256 << 20
	keyCost  = 200
)

// Conn is where changes are told. Neither method waits for the peer.
type Conn interface {
	// SendFrames sends frames, which are copied. An error says that the connection has ended.
	SendFrames(frames []byte) error
}

// Table is what all connections watch. Any goroutine may use it. The zero value is ready.
type Table struct {
	watched  [shards / 64]atomic.Uint64 // bit i%64 of number i/64: keys of shard i are. Each write looks at it, so it is small
	shards   [shards]shard              // by slot
	prefixes prefixes
}

// shard is what is watched in the slots that share a lock.
type shard struct {
	mu   sync.Mutex
	keys map[string][]watching
}

// watching is that a connection wants to hear of a key.
type watching struct {
	by   *Watcher
	id   uint64
	kind protocol.WatchKind
}

// Watcher is what one connection watches. It belongs to the goroutine that reads the connection, but for what is told. A nil one is that of a connection that may watch
// nothing.
type Watcher struct {
	table *Table
	conn  Conn

	mu    sync.Mutex
	keys  map[uint64]place
	bytes int
	ended bool

	gathered []byte // a frame of what is told of prefixes with the next Flush
}

// place is where a key is watched, or that it is a prefix.
type place struct {
	slot   uint16
	prefix bool
	key    string
}

// Open returns what a connection watches: nothing yet.
func (t *Table) Open(conn Conn) *Watcher {
	return &Watcher{table: t, conn: conn, keys: map[uint64]place{}}
}

// Frame executes a FrameWatch, and answers with the numbers of what is watched from now on. What is beyond the bounds is not among them. An error means that the frame makes no
// sense.
func (w *Watcher) Frame(body []byte) error {
	if w == nil {
		return ErrNoProxy
	}
	d := wire.NewDecoder(body)
	answer := wire.BeginFrame(nil, protocol.FrameWatched)
	empty := len(answer)
	for d.More() {
		r := protocol.DecodeWatch(&d)
		if d.Err() != nil {
			break
		}
		switch {
		case r.Kind == protocol.Unwatch:
			w.unwatch(r.ID)
		case w.watch(&r):
			answer = wire.AppendUvarint(answer, r.ID)
		}
	}
	if len(answer) > empty {
		_ = w.conn.SendFrames(wire.EndFrame(answer, 0)) // a lost connection forgets all it watches
	}
	return d.Err()
}

// watch reports whether the key is watched now.
func (w *Watcher) watch(r *protocol.WatchRequest) bool {
	p := place{r.Slot, r.Kind == protocol.WatchPrefix, string(r.Key)}
	if !w.note(r.ID, p) {
		return false
	}
	if p.prefix {
		w.table.prefixes.add(prefix{w, r.ID, p.key})
		return true
	}
	s := &w.table.shards[p.slot%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.keys == nil {
		s.keys = map[string][]watching{}
	}
	if len(s.keys) == 0 {
		w.table.watched[p.slot%shards/64].Or(1 << (p.slot % 64))
	}
	s.keys[p.key] = append(s.keys[p.key], watching{w, r.ID, r.Kind})
	return true
}

// note notes where a key is watched, unless that is too much, or known.
func (w *Watcher) note(id uint64, p place) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if _, known := w.keys[id]; known || w.ended || len(w.keys) >= maxKeys || w.bytes+len(p.key)+keyCost > maxBytes {
		return false
	}
	w.keys[id] = p
	w.bytes += len(p.key) + keyCost
	return true
}

// forget forgets what was noted, and reports whether there was something.
func (w *Watcher) forget(id uint64) (place, bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	p, known := w.keys[id]
	if known {
		delete(w.keys, id)
		w.bytes -= len(p.key) + keyCost
	}
	return p, known
}

// unwatch ends that a key is watched.
func (w *Watcher) unwatch(id uint64) {
	if p, known := w.forget(id); known {
		w.table.remove(p, w, id)
	}
}

// Close ends that anything is watched by the connection.
func (w *Watcher) Close() {
	if w == nil {
		return
	}
	w.mu.Lock()
	keys := w.keys
	w.keys, w.ended, w.bytes = nil, true, 0
	w.mu.Unlock()
	for id, p := range keys {
		w.table.remove(p, w, id)
	}
}

func (t *Table) remove(p place, by *Watcher, id uint64) {
	if p.prefix {
		t.prefixes.remove(by, id)
		return
	}
	s := &t.shards[p.slot%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.keys[p.key]
	for i := range list {
		if list[i].by == by && list[i].id == id {
			list[i] = list[len(list)-1]
			list[len(list)-1] = watching{}
			t.keep(p.slot, p.key, list[:len(list)-1])
			return
		}
	}
}

// keep keeps what is left of those that watch a key. The shard is locked.
func (t *Table) keep(slot uint16, key string, list []watching) {
	s := &t.shards[slot%shards]
	if len(list) > 0 {
		s.keys[key] = list
		return
	}
	if delete(s.keys, key); len(s.keys) == 0 {
		t.watched[slot%shards/64].And(^(uint64(1) << (slot % 64)))
	}
}

// Any reports whether a key of a slot may be watched.
func (t *Table) Any(slot uint16) bool {
	return t.watched[slot%shards/64].Load()>>(slot%64)&1 != 0 || t.prefixes.any.Load()
}

// Changed tells those that watch a key that a replica was sent a version of it, in which there is a value or not. The key is borrowed.
func (t *Table) Changed(slot uint16, key []byte, version record.Version, live bool) {
	t.prefixes.changed(slot, key, version)
	s := &t.shards[slot%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	list := s.keys[string(key)]
	if list == nil {
		return
	}
	kept := list[:0]
	for _, to := range list {
		if to.kind == protocol.WatchOnce {
			to.by.forget(to.id)
			to.by.tell(to.id, version)
			continue
		}
		kept = append(kept, to)
		if live || to.kind == protocol.WatchAll {
			to.by.tell(to.id, version)
		}
	}
	clear(list[len(kept):])
	if len(kept) < len(list) {
		t.keep(slot, string(key), kept)
	}
}

// Cleared tells those that watch keys of a slot, but for those who wait until they are filled, that all are gone, in this version.
func (t *Table) Cleared(slot uint16, version record.Version) {
	t.prefixes.cleared(slot, version)
	s := &t.shards[slot%shards]
	s.mu.Lock()
	defer s.mu.Unlock()
	for key, list := range s.keys {
		if ring.SlotOf([]byte(key)) != slot {
			continue
		}
		kept := list[:0]
		for _, to := range list {
			if to.kind != protocol.WatchOnce {
				kept = append(kept, to)
				if to.kind == protocol.WatchAll {
					to.by.tell(to.id, version)
				}
				continue
			}
			to.by.forget(to.id)
			to.by.tell(to.id, version)
		}
		clear(list[len(kept):])
		if len(kept) < len(list) {
			t.keep(slot, key, kept)
		}
	}
}

// tell tells a connection of a change. It does not wait.
func (w *Watcher) tell(id uint64, version record.Version) {
	frame := protocol.AppendKeyChange(wire.BeginFrame(nil, protocol.FrameChanged), &protocol.KeyChange{ID: id, Version: version})
	_ = w.conn.SendFrames(wire.EndFrame(frame, 0)) // a lost connection forgets all it watches
}

// ErrNoProxy is the error for a peer that is no proxy, and asks to be told of keys.
var ErrNoProxy = errors.New("watch: only proxies watch keys")
