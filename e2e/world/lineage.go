package world

import (
	"fmt"
	"hash/fnv"
	"maps"
	"sync"

	"github.com/quolldb/quoll/internal/lineage"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/proxy/quorum"
	"github.com/quolldb/quoll/ring/change"
)

// replicas knows what the replicas of a world hold, and tells the check of lineage what a majority has held durably, so that clients could have read it. And a version
// names one state, wherever it is.
type replicas struct {
	mu      sync.Mutex
	epochs  epochs
	holders map[uint64]*holder // by generation
	check   *lineage.Check
	states  map[lineage.Key]map[record.Version]uint64 // hashes, 0 for a deletion
	err     error                                     // the first that is wrong
}

func newReplicas() *replicas {
	r := &replicas{epochs: newEpochs(), holders: map[uint64]*holder{}, states: map[lineage.Key]map[record.Version]uint64{}}
	r.check = lineage.New(func(at lineage.Key, a, b record.Version) bool { return r.states[at][a] == r.states[at][b] })
	return r
}

// learned is told of each version of the ring that a node takes part in from now on.
func (r *replicas) learned(d change.Document) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if changed := r.epochs.add(d); len(changed) > 0 {
		for _, h := range r.holders {
			h.lookAt(changed)
		}
	}
}

// wrong returns what is.
func (r *replicas) wrong() error {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.err
}

// proposed is told of each write that a home proposes.
func (r *replicas) proposed(at lineage.Key, v record.Version, from lineage.Origin) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.check.Proposed(at, v, from)
}

// named notes which state a version names. The replicas are locked.
func (r *replicas) named(at lineage.Key, rec *record.Record) {
	state := hashOf(&rec.State)
	if r.states[at] == nil {
		r.states[at] = map[record.Version]uint64{}
	}
	if before, known := r.states[at][rec.Version]; known && before != state {
		r.violated(fmt.Errorf("slot %d, key %s: version %v names two states", at.Slot, at.Key, rec.Version))
	}
	r.states[at][rec.Version] = state
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

// look looks whether a version that a replica holds durably has become readable: in its slot's present epoch, or in a later one. The replicas are locked.
func (r *replicas) look(at lineage.Key, v record.Version) {
	if r.check.Readable(at, v) {
		return
	}
	for _, a := range r.epochs.of(at.Slot) {
		if r.hold(a.Replicas, a.Epoch, at, v) && (a.Next == nil || r.hold(a.Next, a.Epoch, at, v)) {
			r.violated(r.check.NowReadable(at, v))
			return
		}
	}
}

// hold reports whether a majority of some members hold exactly a version, and may say so in an epoch: who is in a later one does not any more.
func (r *replicas) hold(members []uint16, epoch uint64, at lineage.Key, v record.Version) bool {
	holding := 0
	for _, id := range members {
		h := r.holders[r.epochs.lives[id]]
		if h != nil && h.durable[at] == v && !h.slots[at.Slot].Rebuilding && h.slots[at.Slot].Epoch <= epoch {
			holding++
		}
	}
	return holding >= quorum.Majority(len(members))
}

// violated notes the first error.
func (r *replicas) violated(err error) {
	if r.err == nil && err != nil {
		r.err = fmt.Errorf("lineage: %w", err)
	}
}

// holder is what a replica holds. A node that has lost its power, or was killed, holds what it finds when it starts again, once it has made that durable.
type holder struct {
	*replicas
	ended   bool     // the process has: what it does from now on reaches no disk
	staged  []func() // what is not durable yet
	past    int      // so much of what was ever staged is no longer in staged
	durable map[lineage.Key]record.Version
	slots   map[uint16]record.SlotMeta
}

// holder returns what one life of a node's data holds, which its generation tells from others.
func (r *replicas) holder(generation uint64) *holder {
	h := &holder{replicas: r, durable: map[lineage.Key]record.Version{}, slots: map[uint16]record.SlotMeta{}}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.holders[generation] = h
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
	at := lineage.Key{Slot: slot, Key: string(key)}
	h.mu.Lock()
	h.named(at, &rec)
	h.mu.Unlock()
	h.stage(func() {
		h.durable[at] = rec.Version
		h.look(at, rec.Version)
	})
}

// patched notes a record that an engine has patched.
func (h *holder) patched(e engine.Engine, slot uint16, key []byte) {
	if rec, found, err := e.Get(slot, key); err == nil && found {
		h.put(slot, key, rec)
	}
}

func (h *holder) remove(slot uint16, key []byte) {
	at := lineage.Key{Slot: slot, Key: string(key)}
	h.stage(func() {
		h.check.Purged(at, h.durable[at])
		delete(h.durable, at)
	})
}

// slot notes a slot's state, and with all whether all of its records are removed.
func (h *holder) slot(slot uint16, meta record.SlotMeta, all bool) {
	h.stage(func() {
		before := h.slots[slot]
		h.slots[slot] = meta
		if all {
			maps.DeleteFunc(h.durable, func(at lineage.Key, _ record.Version) bool { return at.Slot == slot })
		} else if meta.Epoch > before.Epoch || before.Rebuilding && !meta.Rebuilding {
			h.lookAt(map[uint16]bool{slot: true})
		}
	})
}

// lookAt looks at all that is held of some slots. The replicas are locked.
func (h *holder) lookAt(slots map[uint16]bool) {
	for at, v := range h.durable {
		if slots[at.Slot] {
			h.look(at, v)
		}
	}
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
	clear(h.slots)
}

// begin has a new process find out what is left.
func (h *holder) begin() {
	h.end()
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ended = false
}
