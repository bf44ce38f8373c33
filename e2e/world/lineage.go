package world

import (
	"bytes"
	"fmt"
	"hash/fnv"
	"slices"
	"sync"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/proxy/quorum"
	"github.com/quolldb/quoll/ring"
)

// lineage knows what every version was built on, and which ones a majority has held durably, so that clients could have read them. Of any two of these
// the later one has to be built on the earlier. Clients rarely read in the moment that would show it. And a version names one state, wherever it is.
// It is what node/register/sim checks, here of the real engines and messages.
type lineage struct {
	mu       sync.Mutex
	table    *ring.Table // nil before a cluster has formed
	holders  []*holder   // by member ID less one
	origins  map[keyName]map[record.Version]origin
	states   map[keyName]map[record.Version]uint64 // hashes, 0 for a deletion
	readable map[keyName][]record.Version
	purged   map[keyName]record.Version // the highest tombstone that was removed
	pairs    int                        // that were compared
	err      error                      // the first that is wrong
}

type keyName struct {
	slot uint16
	key  string
}

// origin is what a write was built on; a blind one on nothing.
type origin struct {
	base  record.Version
	blind bool
}

func newLineage() *lineage {
	return &lineage{origins: map[keyName]map[record.Version]origin{}, states: map[keyName]map[record.Version]uint64{},
		readable: map[keyName][]record.Version{}, purged: map[keyName]record.Version{}}
}

// formed says which nodes hold which slots.
func (l *lineage) formed(table *ring.Table) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.table = table
}

// wrong returns what is.
func (l *lineage) wrong() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

// proposed is told of each write that a home proposes. A version counts when it is sent first.
func (l *lineage) proposed(at keyName, v record.Version, from origin) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.origins[at] == nil {
		l.origins[at] = map[record.Version]origin{}
	}
	if _, known := l.origins[at][v]; !known {
		l.origins[at][v] = from
	}
}

// named notes which state a version names. The lineage is locked.
func (l *lineage) named(at keyName, rec *record.Record) {
	state := hashOf(&rec.State)
	if l.states[at] == nil {
		l.states[at] = map[record.Version]uint64{}
	}
	if before, known := l.states[at][rec.Version]; known && before != state {
		l.violated("slot %d, key %s: version %v names two states", at.slot, at.key, rec.Version)
	}
	l.states[at][rec.Version] = state
}

func hashOf(s *record.State) uint64 {
	if !s.Live() {
		return 0
	}
	h := fnv.New64a()
	fmt.Fprintln(h, s.Type, s.ExpireAt)
	_, _ = h.Write(s.Packed().Value)
	return h.Sum64()
}

// look looks whether a version that a replica holds durably has become readable. The lineage is locked.
func (l *lineage) look(at keyName, v record.Version) {
	if l.table == nil || slices.Contains(l.readable[at], v) {
		return
	}
	members := l.table.Replicas(at.slot)
	holding := 0
	for _, id := range members {
		if h := l.holders[id-1]; h.durable[at] == v && !h.rebuilding[at.slot] {
			holding++
		}
	}
	if holding < quorum.Majority(len(members)) {
		return
	}
	if _, written := l.origins[at][v]; !written && !l.purged[at].Less(v) {
		return // what a purge has left
	}
	for _, other := range l.readable[at] {
		low, high := other, v
		if v.Less(other) {
			low, high = v, other
		}
		l.pairs++
		if l.contradicts(at, low, high) {
			l.violated("slot %d, key %s: %v and %v could be read, and the later one is not built on the other", at.slot, at.key, low, high)
		}
	}
	l.readable[at] = append(l.readable[at], v)
}

// contradicts reports whether high was built on what knew nothing of low, and a client could tell.
func (l *lineage) contradicts(at keyName, low, high record.Version) bool {
	v := high
	for low.Less(v) {
		o, written := l.origins[at][v]
		if !written || o.blind { // a write that overwrites anything
			return false
		}
		v = o.base
	}
	if v == low {
		return false
	}
	if _, written := l.origins[at][v]; !written && !l.purged[at].Less(low) {
		return false // built on what a purge has left of it
	}
	return l.states[at][v] != l.states[at][low]
}

func (l *lineage) violated(format string, args ...any) {
	if l.err == nil {
		l.err = fmt.Errorf("lineage: "+format, args...)
	}
}

// holder is what a replica holds. A node that has lost its power, or was killed, holds what it finds when it starts again, once it has made that durable.
type holder struct {
	*lineage
	ended      bool     // the process has: what it does from now on reaches no disk
	staged     []func() // what is not durable yet
	past       int      // so much of what was ever staged is no longer in staged
	durable    map[keyName]record.Version
	rebuilding map[uint16]bool
}

func (l *lineage) holder() *holder {
	h := &holder{lineage: l, durable: map[keyName]record.Version{}, rebuilding: map[uint16]bool{}}
	l.holders = append(l.holders, h)
	return h
}

// stage notes what a replica holds as soon as it is durable.
func (h *holder) stage(then func()) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if !h.ended {
		h.staged = append(h.staged, then)
	}
}

func (h *holder) put(slot uint16, key []byte, rec record.Record) {
	at := keyName{slot, string(bytes.Clone(key))}
	h.mu.Lock()
	h.named(at, &rec)
	h.mu.Unlock()
	h.stage(func() {
		h.durable[at] = rec.Version
		h.look(at, rec.Version)
	})
}

func (h *holder) remove(slot uint16, key []byte) {
	at := keyName{slot, string(bytes.Clone(key))}
	h.stage(func() {
		h.purged[at] = record.Max(h.purged[at], h.durable[at])
		delete(h.durable, at)
	})
}

// slot notes a slot's state, and with all whether all of its records are removed.
func (h *holder) slot(slot uint16, meta record.SlotMeta, all bool) {
	h.stage(func() {
		back := h.rebuilding[slot] && !meta.Rebuilding
		h.rebuilding[slot] = meta.Rebuilding
		for at, v := range h.durable {
			switch {
			case at.slot != slot:
			case all:
				delete(h.durable, at)
			case back:
				h.look(at, v)
			}
		}
	})
}

// until returns how much has been staged so far.
func (h *holder) until() int {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.past + len(h.staged)
}

// committed notes that what was staged until then is durable.
func (h *holder) committed(until int) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for h.past < until && len(h.staged) > 0 {
		h.staged[0]()
		h.staged = h.staged[1:]
		h.past++
	}
}

// end forgets what a replica held: the process has ended, and it depends on the disk what is left.
func (h *holder) end() {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.past += len(h.staged)
	h.staged, h.ended = nil, true
	clear(h.durable)
	clear(h.rebuilding)
}

// begin has a new process find out what is left.
func (h *holder) begin() {
	h.end()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = false
}
