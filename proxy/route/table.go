package route

import (
	"sync"
)

// IDs of operations on the wire: generation | table index | operation. A batch may
// have a command of the most arguments behind others. Generations wrap around; by then the
// connections on which a reply of the old one might come are gone. What is sent again has another generation: so it is known
// which attempt a reply is of.
const (
	opBits         = 21
	tableBits      = 16
	generationBits = 64 - tableBits - opBits
	maxOpsRun      = 1 << opBits
)

// batchTable finds the batch that a reply belongs to.
type batchTable struct {
	mu      sync.RWMutex
	slots   []*Batch
	free    []int
	counter uint64 // generation of the last batch
}

// add gives a batch its identity.
func (t *batchTable) add(b *Batch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var i int
	if n := len(t.free); n > 0 {
		i, t.free = t.free[n-1], t.free[:n-1]
		t.slots[i] = b
	} else {
		i = len(t.slots)
		t.slots = append(t.slots, b)
	}
	b.state.id = t.next()<<tableBits | uint64(i)
	b.state.attempt = b.state.id
}

// again gives a batch another identity beside those that it has, for what is sent from now on.
func (t *batchTable) again(b *Batch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	b.state.attempt = t.next()<<tableBits | b.state.id&(1<<tableBits-1)
}

// next returns the next generation.
func (t *batchTable) next() uint64 {
	if t.counter++; t.counter == 1<<generationBits {
		t.counter = 1
	}
	return t.counter
}

// remove ends it: replies that come later find nothing.
func (t *batchTable) remove(b *Batch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := int(b.state.id & (1<<tableBits - 1))
	t.slots[i], t.free = nil, append(t.free, i)
	b.state.id, b.state.attempt = 0, 0
}

// lock returns the batch of an operation's ID, locked, nil if it has ended.
func (t *batchTable) lock(op uint64) *Batch {
	id := op >> opBits
	t.mu.RLock()
	defer t.mu.RUnlock()
	i := int(id & (1<<tableBits - 1))
	if i >= len(t.slots) || t.slots[i] == nil || !t.slots[i].state.has(id) {
		return nil
	}
	b := t.slots[i]
	b.state.mu.Lock()
	return b
}

// has reports whether an identity of the batch's place in the table is one of its own: no other batch had that place meanwhile.
func (s *batchState) has(id uint64) bool {
	since := func(id uint64) uint64 { return (id - s.id) >> tableBits & (1<<generationBits - 1) }
	return since(id) <= since(s.attempt)
}

// all returns the batches that are executed at the moment.
func (t *batchTable) all() []*Batch {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var all []*Batch
	for _, b := range t.slots {
		if b != nil {
			all = append(all, b)
		}
	}
	return all
}
