package register

import (
	"sync"

	"github.com/quolldb/quoll/internal/record"
)

// group is batches that share a record: each is evaluated on what those before it leave, and nobody else gets between them, so that they are one batch to all others
// (B1). So a key that many batches want gets them all in one write.
//
// It is the memory of what it puts together, and used again when the record is closed, or another one takes its place.
type group struct {
	keys    []batchKey
	of      []*keyState       // theirs
	at      map[*keyState]int // in keys, nil while there are few
	batches []*batch
	waiting []waiter
	size    int    // of what it writes, in bytes
	bytes   []byte // backs names and short values
	evaluation
}

// evaluation is memory for the evaluation of a batch.
type evaluation struct {
	queue   []*batch // those that are tried
	changes []batchKey
	held    []record.Record
	borrow  []byte // backs short values of held; and then the record, if that is short
}

// What a group has at most, but for one that is a single batch.
const (
	groupBytes = 1 << 20
	groupKeys  = 1 << 10
)

// groupIndexAt is the number of keys from which a group has an index of them.
const groupIndexAt = 16

var groupPool = sync.Pool{New: func() any { return new(group) }}

// newGroup returns an empty one.
func newGroup() *group { return groupPool.Get().(*group) }

// recycle gives the memory of a group back to the pool, unless it is a lot. Nobody may use anything of it afterwards.
func (g *group) recycle() {
	if cap(g.bytes)+cap(g.borrow) > maxPooled || max(cap(g.keys), cap(g.changes), cap(g.queue), cap(g.batches)) > groupKeys/4 {
		return
	}
	clear(g.keys)
	clear(g.of)
	clear(g.batches)
	clear(g.waiting)
	clear(g.queue)
	g.keys, g.of, g.at, g.batches, g.waiting, g.size, g.bytes, g.queue = g.keys[:0], g.of[:0], nil, g.batches[:0], g.waiting[:0], 0, g.bytes[:0], g.queue[:0]
	groupPool.Put(g)
}

// full reports whether nothing more fits into the record.
func (g *group) full() bool { return g.size >= groupBytes || len(g.keys) >= groupKeys }

// find returns what the group does to a key, nil if that is not one of its keys.
func (g *group) find(ks *keyState) *batchKey {
	if g.at != nil {
		if at, ok := g.at[ks]; ok {
			return &g.keys[at]
		}
		return nil
	}
	for i, of := range g.of {
		if of == ks {
			return &g.keys[i]
		}
	}
	return nil
}

// writes reports whether a key is one that the group writes.
func (g *group) writes(ks *keyState) bool {
	k := g.find(ks)
	return k != nil && k.seq != 0
}

// join adds a batch that has been evaluated, and what that does to each of its keys.
func (g *group) join(one *batch, keys []batchKey, w waiter) {
	one.grouped = true
	g.batches, g.waiting = append(g.batches, one), append(g.waiting, w)
	for i, ks := range one.keys {
		k := g.find(ks)
		switch {
		case k == nil:
			g.add(ks, keys[i])
		case keys[i].seq != 0: // the base stays the one that the first was evaluated on
			g.size -= k.state.Size()
			k.seq, k.state = keys[i].seq, keys[i].state
		}
		g.size += keys[i].state.Size()
	}
}

// add adds a key.
func (g *group) add(ks *keyState, k batchKey) {
	k.name = g.keep(ks.key)
	g.keys, g.of = append(g.keys, k), append(g.of, ks)
	g.size += len(k.name)
	switch {
	case g.at != nil:
		g.at[ks] = len(g.keys) - 1
	case len(g.keys) > groupIndexAt:
		g.at = make(map[*keyState]int, 2*groupIndexAt)
		for i, of := range g.of {
			g.at[of] = i
		}
	}
}

// keep returns a copy of bytes that lasts as long as the group.
func (g *group) keep(b []byte) []byte {
	start := len(g.bytes)
	g.bytes = append(g.bytes, b...)
	return g.bytes[start:len(g.bytes):len(g.bytes)]
}

// keepState returns a copy of a state whose value is borrowed. A short value lasts as long as the group.
func (g *group) keepState(st record.State) record.State {
	if st.Object != nil || len(st.Value) == 0 || len(st.Value) > record.CopiedValue {
		return cloneState(st)
	}
	st.Value = g.keep(st.Value)
	return st
}

// evaluate returns empty memory for the evaluation of a batch of so many keys.
func (g *group) evaluate(keys int) ([]batchKey, []record.Record) {
	if cap(g.changes) < keys || cap(g.held) < keys {
		g.changes, g.held = make([]batchKey, keys), make([]record.Record, keys)
	}
	g.changes, g.held, g.borrow = g.changes[:keys], g.held[:keys], g.borrow[:0]
	return g.changes, g.held
}

// evaluated forgets what the last evaluation was on.
func (g *group) evaluated() {
	clear(g.changes)
	clear(g.held)
}

// copyShort returns a copy of a state that lasts as long as the evaluation.
func (g *group) copyShort(st record.State) record.State {
	if st.Object != nil || len(st.Value) == 0 || len(st.Value) > record.CopiedValue {
		return cloneState(st)
	}
	start := len(g.borrow)
	g.borrow = append(g.borrow, st.Value...)
	st.Value = g.borrow[start:len(g.borrow):len(g.borrow)]
	return st
}
