package session

import (
	"slices"
	"sync"
	"time"

	"github.com/quolldb/quoll/proxy/route"
)

// Clients wait in rooms, one for each key and kind of command, in the order in which they came. The cluster says when something may have changed in the key (route.Cluster.Watch): the
// first in the room tries then, by executing its command; if it got something the next one tries, for there may be more. So an element is handed out by the slot's home as to anybody
// else, once, and what waits here is no state that could be lost: a proxy that dies takes its clients along, and nothing of a queue.

// waiter is one client's command that waits.
type waiter struct {
	session *Session
	blocking
	begun time.Time
	timer *time.Timer // nil if it waits for ever
	// unlooked says that it did not look at its keys when it came.
	unlooked bool

	// Under waitingRooms.mu:
	rooms   []*room
	due     bool   // it is to try
	ended   ending // it waits no longer
	counted bool
}

// ending says why a client waits no longer.
type ending uint8

const (
	goesOn ending = iota
	timedOut
	unblockedByTimeout
	unblockedByError
)

// room is where clients wait for one key, as one kind of command. It is kept for a moment when nobody waits any more: a worker that takes one element after the other comes back, and
// the key is watched then.
type room struct {
	name    string
	key     []byte
	list    []*waiter // first come first
	watch   route.Watching
	shared  bool    // whatever is there is for all of them
	news    bool    // something may have changed since somebody looked last
	trying  *waiter // nobody else tries
	looking int     // clients that look at the key, and may wait for it then
	left    time.Time
	timed   bool // expire will be called
}

// keptFor is how long a room is kept in which nobody waits.
const keptFor = time.Second

// waitingRooms are those of a proxy. Any goroutine may use it. The zero value is ready.
type waitingRooms struct {
	mu      sync.Mutex
	rooms   map[string]*room
	clients int
}

// count is how many clients wait.
func (r *waitingRooms) count() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.clients
}

// enter is called before a client looks at its keys for the first time. It returns the rooms that there are for these; exit is to be called with them when the client waits, or does not have to.
// busy: something is about to be handed out to one of those who wait already.
func (r *waitingRooms) enter(b *blocking) (in []*room, busy bool) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, key := range b.keys {
		if room := r.rooms[b.room(key)]; room != nil {
			in = append(in, room)
			busy = busy || room.trying != nil
		}
	}
	for _, room := range in {
		if !busy && room.looking == 0 && len(room.list) == 0 { // it sees what was told until now, and nobody else needs to
			room.news = false
		}
		room.looking++
	}
	return in, busy
}

// exit is for what enter has returned.
func (r *waitingRooms) exit(in []*room) {
	if len(in) == 0 {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, room := range in {
		room.looking--
	}
}

// join has a client wait for its keys, behind all that do. It tries at once where something was told since it entered.
func (r *waitingRooms) join(w *waiter) {
	cluster := w.session.service.cluster
	r.mu.Lock()
	defer r.mu.Unlock()
	r.clients++
	w.counted = true
	for _, key := range w.keys {
		name := w.room(key)
		in := r.rooms[name]
		if in == nil {
			in = &room{name: name, key: key, shared: w.reads()}
			if r.rooms == nil {
				r.rooms = map[string]*room{}
			}
			r.rooms[name] = in
			in.watch = cluster.Watch(key, w.watching(), func() { r.changed(in) })
		}
		if !slices.Contains(w.rooms, in) { // a key may be named twice
			in.list, w.rooms = append(in.list, w), append(w.rooms, in)
			r.next(in)
		}
	}
}

// changed is called when a key may have changed.
func (r *waitingRooms) changed(in *room) {
	r.mu.Lock()
	defer r.mu.Unlock()
	in.news = true
	r.next(in)
}

// next has the first of those who wait try, if there is something to try for and nobody does.
func (r *waitingRooms) next(in *room) {
	if in.shared && in.news && len(in.list) > 0 {
		in.news = false
		for _, w := range in.list {
			w.due = true
			w.session.conn.Resume()
		}
	}
	if in.trying != nil || !in.news || len(in.list) == 0 {
		return
	}
	in.trying, in.news = in.list[0], false
	in.trying.due = true
	in.trying.session.conn.Resume()
}

// tries returns the keys for which a client is to try now, and whether it is to end.
func (r *waitingRooms) tries(w *waiter) (keys [][]byte, end ending) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if w.due {
		w.due = false
		for _, in := range w.rooms {
			if in.trying == w || in.shared {
				keys = append(keys, in.key)
			}
		}
	}
	return keys, w.ended
}

// missed says that there was nothing for a client that tried.
func (r *waitingRooms) missed(w *waiter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, in := range w.rooms {
		if in.trying == w && !w.due {
			in.trying = nil
			r.next(in)
		}
	}
}

// again has a client try once more, in a moment.
func (r *waitingRooms) again(w *waiter, pause time.Duration) {
	time.AfterFunc(pause, func() {
		r.mu.Lock()
		defer r.mu.Unlock()
		for _, in := range w.rooms {
			in.news = true
			r.next(in)
		}
	})
}

// leave ends that a client waits. Those behind it try if it was about to, or got something.
func (r *waitingRooms) leave(w *waiter) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, in := range w.rooms {
		i := slices.Index(in.list, w)
		in.list = slices.Delete(in.list, i, i+1)
		if in.trying == w {
			in.trying, in.news = nil, true
		}
		if len(in.list) == 0 {
			r.keep(in)
			continue
		}
		r.next(in)
	}
	if w.rooms = nil; w.counted {
		w.counted = false
		r.clients--
	}
}

// keep keeps a room for a moment in which nobody waits.
func (r *waitingRooms) keep(in *room) {
	in.left = time.Now()
	r.expireAfter(in, keptFor)
}

// expireAfter has expire be called, once, however often it is asked for meanwhile.
func (r *waitingRooms) expireAfter(in *room, wait time.Duration) {
	if !in.timed {
		in.timed = true
		time.AfterFunc(wait, func() { r.expire(in) })
	}
}

// expire ends a room in which nobody has waited for long enough.
func (r *waitingRooms) expire(in *room) {
	r.mu.Lock()
	defer r.mu.Unlock()
	in.timed = false
	if len(in.list) > 0 { // who leaves last keeps it again
		return
	}
	if rest := keptFor - time.Since(in.left); rest > 0 || in.looking > 0 {
		r.expireAfter(in, max(rest, keptFor/10))
		return
	}
	delete(r.rooms, in.name)
	in.watch.End()
}

// end ends the waiting of a client for a reason, and reports whether it waited.
func (r *waitingRooms) end(w *waiter, why ending) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	if !w.counted || w.ended != goesOn {
		return false
	}
	w.ended = why
	w.session.conn.Resume()
	return true
}
