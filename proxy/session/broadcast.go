package session

import (
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/quolldb/quoll/proxy/route"
)

// broadcasts are the beginnings of keys of which clients of this proxy hear, whoever reads them (CLIENT TRACKING with BCAST). Any goroutine may use it. The zero value is ready.
type broadcasts struct {
	mu       sync.Mutex
	prefixes map[string]*broadcast
}

// broadcast is one of them, and the clients that hear of it: at once of keys, and that anything may have changed once in flushInterval.
type broadcast struct {
	watching route.Watching

	// Under the lock of all:
	clients map[*Session]struct{}
	flushes bool      // it is about to be told that anything may have changed
	flushed time.Time // when that was told last
}

// flushInterval is the time between two times at which clients hear that anything may have changed.
const flushInterval = 100 * time.Millisecond

// add adds a client to prefixes, and returns when it will hear of all that is written from then on, or after watchPatience: then it hears that anything may have changed, once a second, until it does.
func (b *broadcasts) add(s *Session, prefixes []string) {
	added := make([]*broadcast, 0, len(prefixes))
	b.mu.Lock()
	if b.prefixes == nil {
		b.prefixes = map[string]*broadcast{}
	}
	for _, prefix := range prefixes {
		one := b.prefixes[prefix]
		if one == nil {
			one = &broadcast{clients: map[*Session]struct{}{}}
			one.watching = s.service.cluster.WatchPrefix([]byte(prefix), func(changed []route.Changed) { b.told(one, changed) })
			b.prefixes[prefix] = one
		}
		one.clients[s] = struct{}{}
		added = append(added, one)
	}
	b.mu.Unlock()
	for _, one := range added {
		one.watching.Await(watchPatience)
	}
}

// remove has a client hear of prefixes no more.
func (b *broadcasts) remove(s *Session, prefixes []string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, prefix := range prefixes {
		one := b.prefixes[prefix]
		if delete(one.clients, s); len(one.clients) == 0 {
			one.watching.End()
			delete(b.prefixes, prefix)
		}
	}
}

// count is how many prefixes clients hear of.
func (b *broadcasts) count() int {
	b.mu.Lock()
	defer b.mu.Unlock()
	return len(b.prefixes)
}

// told has the clients of a prefix hear of keys that may have changed, or that any may have, for nil. It does not wait.
func (b *broadcasts) told(one *broadcast, changed []route.Changed) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if changed == nil {
		b.flush(one)
		return
	}
	keys := keysOf(changed)
	for s := range one.clients {
		if s.info.tracks().noLoop {
			s.wrote.tell(changed, s.changed)
			continue
		}
		s.invalidated(keys)
	}
}

// keysOf returns the keys that have changed, each once, in order as Redis does.
func keysOf(changed []route.Changed) []string {
	keys := make([]string, len(changed))
	for i := range changed {
		keys[i] = string(changed[i].Key)
	}
	slices.Sort(keys)
	return slices.Compact(keys)
}

// flush has the clients of a prefix hear, in a while, that anything may have changed. The lock is held.
func (b *broadcasts) flush(one *broadcast) {
	if one.flushes {
		return
	}
	one.flushes = true
	time.AfterFunc(flushInterval-time.Since(one.flushed), func() {
		b.mu.Lock()
		defer b.mu.Unlock()
		one.flushes, one.flushed = false, time.Now()
		for s := range one.clients {
			s.invalidated(nil)
		}
	})
}

// overlap returns a refusal if a client would hear of a key by two prefixes: of new ones, or of one that it has.
func overlap(have, prefixes []string) error {
	overlaps := func(a, b string) bool { return strings.HasPrefix(a, b) || strings.HasPrefix(b, a) }
	for i, prefix := range prefixes {
		for _, other := range have {
			if overlaps(prefix, other) {
				return route.Refuse("ERR Prefix '" + prefix + "' overlaps with an existing prefix '" + other + "'. Prefixes for a single client must not overlap.")
			}
		}
		for _, other := range prefixes[i+1:] {
			if overlaps(prefix, other) {
				return route.Refuse("ERR Prefix '" + prefix + "' overlaps with another provided prefix '" + other + "'. Prefixes for a single client must not overlap.")
			}
		}
	}
	return nil
}
