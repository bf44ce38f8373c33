package session

import (
	"cmp"
	"slices"
	"sync"
	"time"

	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/proxy/route"
)

// maxTracked is how many keys are tracked at most, as by Redis' tracking-table-max-keys, which may be set to less. Beyond it the clients of some key are told that it may have changed.
const maxTracked = 1_000_000

// trackedKeys are the keys that clients of this proxy have read, and keep. Any goroutine may use it. The zero value is ready.
//
// A key is watched at a majority of its replicas before it is read (route.Cluster.Watch), so that whoever has read it is told of the next write that takes effect; and also when a link is lost
// over which it would have been told. Whoever was told has to read the key again to be told again.
type trackedKeys struct {
	mu    sync.Mutex
	keys  map[string]*trackedKey
	items int // clients of all of them
	most  int // keys; 0 stands for maxTracked
}

// trackedKey is a key, and the clients that have read it, by ID.
type trackedKey struct {
	name     string
	watching route.Watching
	clients  []int64
	told     bool // it is not tracked any more
}

// watchPatience is how long a read waits until its key is watched.
const watchPatience = time.Second

// add notes that a client is about to read keys, and returns when they are watched. settle has to be called when they have been read.
func (t *trackedKeys) add(s *Session, keys [][]byte) {
	for from := len(s.reading); len(keys) > 0; keys = keys[1:] {
		k, room := t.note(s, keys[0])
		if room != nil {
			t.changed(s, room)
		}
		if s.reading = append(s.reading, k); len(keys) == 1 {
			for _, k := range s.reading[from:] {
				k.watching.Await(watchPatience)
			}
		}
	}
}

// settle is called when keys have been read that a client has added: it keeps them from now on. It is told at once, behind the replies, if that is too late for one of them: it was told
// before it read, or the key could not be watched.
func (t *trackedKeys) settle(s *Session) {
	for _, k := range s.reading {
		t.mu.Lock()
		told := k.told
		t.mu.Unlock()
		if told {
			s.invalidated([]string{k.key()})
		} else if !k.watching.Await(0) {
			t.changed(s, k)
		}
	}
	clear(s.reading)
	s.reading = s.reading[:0]
}

// key is the key as clients name it.
func (k *trackedKey) key() string {
	_, key := database.Split([]byte(k.name))
	return string(key)
}

// note notes that a client is about to read a key. If there are too many it returns one that has to make room.
func (t *trackedKeys) note(s *Session, key []byte) (k, room *trackedKey) {
	t.mu.Lock()
	defer t.mu.Unlock()
	id := s.conn.ID()
	if k := t.keys[string(key)]; k != nil {
		if !slices.Contains(k.clients, id) {
			k.clients = append(k.clients, id)
			t.items++
		}
		return k, nil
	}
	if t.keys == nil {
		t.keys = map[string]*trackedKey{}
	}
	if len(t.keys) >= cmp.Or(t.most, maxTracked) {
		for _, room = range t.keys {
			break
		}
	}
	k = &trackedKey{name: string(key), clients: []int64{id}}
	t.keys[k.name] = k
	t.items++
	k.watching = s.service.cluster.Watch(key, protocol.WatchOnce, func() { t.changed(s, k) })
	return k, room
}

// changed tells the clients that have read a key that it may have changed. The session is one of the server's, whichever.
func (t *trackedKeys) changed(s *Session, k *trackedKey) {
	t.mu.Lock()
	if t.keys[k.name] == k {
		delete(t.keys, k.name)
	}
	clients := t.end(k)
	t.mu.Unlock()
	k.watching.End()
	key := []string{k.key()}
	for _, id := range clients {
		if client := s.client(id); client != nil && !client.info.tracks().broadcast { // who is told of all that begins so has kept this before
			client.invalidated(key)
		}
	}
}

// end ends that a key is tracked, and returns the clients that have read it. The lock is held.
func (t *trackedKeys) end(k *trackedKey) []int64 {
	clients := k.clients
	t.items -= len(clients)
	k.clients, k.told = nil, true
	return clients
}

// flush forgets all keys: all clients are told that they must not use any more what they know. So it is before all keys are deleted; what is read from then on is tracked anew.
func (t *trackedKeys) flush(s *Session) {
	t.mu.Lock()
	keys := t.keys
	t.keys = nil
	for _, k := range keys {
		t.end(k)
	}
	t.mu.Unlock()
	for _, client := range s.all() {
		client.invalidated(nil)
	}
	for _, k := range keys {
		k.watching.End()
	}
}

// limit sets how many keys are tracked at most. The clients of what is too much are told.
func (t *trackedKeys) limit(s *Session, most int) {
	t.mu.Lock()
	t.most = most
	var room []*trackedKey
	for _, k := range t.keys {
		if len(t.keys)-len(room) <= most {
			break
		}
		room = append(room, k)
	}
	t.mu.Unlock()
	for _, k := range room {
		t.changed(s, k)
	}
}

// limits returns how many keys are tracked at most.
func (t *trackedKeys) limits() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return cmp.Or(t.most, maxTracked)
}

// count returns how many keys are tracked, and how many clients have read them, each counted for each key.
func (t *trackedKeys) count() (keys, items int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	return len(t.keys), t.items
}

// forget has a client be told of keys no more.
func (t *trackedKeys) forget(id int64, keys [][]byte) {
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, key := range keys {
		k := t.keys[string(key)]
		if k == nil {
			continue
		}
		clients := slices.DeleteFunc(k.clients, func(have int64) bool { return have == id })
		t.items -= len(k.clients) - len(clients)
		k.clients = clients
	}
}
