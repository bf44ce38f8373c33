package parts

import (
	"sync"
	"sync/atomic"

	"github.com/quolldb/quoll/internal/buffer"
)

// A run is a sequence of versions of a map, each made of the one before, of which the latest has the nodes: a change overwrites them in place, and leaves
// the version before with what undoes it. So a change costs what is changed, and no path of copies. Nobody has to say who keeps which version: one that is asked
// for after it has been changed makes nodes of its own of those of the latest one, by undoing what is between, and one that nobody has any more is nothing but garbage.
// (Persistent arrays of Baker's are made so.)
//
// Whoever reads without end in sight, as what sends and stores objects does, freezes a version first: its nodes are never changed again, and the next
// change begins a run with copies of the nodes that it touches. A node may be changed in place if it is of the run, by its number.
type run struct {
	sync.Mutex
	number uint64
	undone int // about how many bytes it takes to undo its changes, kept only if somebody keeps its first version
}

// undo is what a change has taken: an item, packed, or what it added: a key.
type undo struct {
	item  []byte
	added bool
}

// undoMemory is about what a version and its undo take besides the item.
const undoMemory = 128

// A run of a map ends when it takes undoFactor times the bytes of the map to undo it, and leastRun: of a node that is copied enough is changed then.
const (
	undoFactor = 2
	leastRun   = 256 << 10
)

// runs numbers runs. Nodes of no run have 0.
var runs atomic.Uint64

func newRun() *run { return &run{number: runs.Add(1)} }

// with returns the version with a change, and whether the key was there.
func (m *Map) with(c change) (next *Map, found bool) {
	r := m.run
	if r != nil {
		r.Lock()
		defer r.Unlock()
	}
	inPlace := r != nil && !m.frozen && m.next == nil && r.undone < max(leastRun, undoFactor*m.size)
	root := m.root
	if !inPlace {
		r, root = newRun(), m.freeze()
	}
	from := m.prepare(root, &c) // nothing is changed if that fails
	c.run = r.number
	if inPlace {
		if next = m.overwritten(root, &c, from); next != nil {
			return next, true
		}
		c.keep = true
	}
	root = root.changed(&c)
	if c.remove && !c.found {
		return m, false
	}
	next = &Map{count: m.count + c.items, size: m.size + c.bytes, run: r, root: root, origin: from}
	if inPlace {
		m.superseded(next, c.undo)
	}
	return next, c.found
}

// superseded gives the nodes of the map, of which the next version was made in place, to that.
func (m *Map) superseded(next *Map, taken undo) {
	m.root, m.next, m.undo = nil, next, taken
	m.run.undone += len(taken.item) + undoMemory
}

// overwritten returns the version with a change that gives a key another value, as long as the one it has, in a part that is of the run; nil for any other change. That
// is what most changes are, and nothing above the part is different after it, or even touched.
func (m *Map) overwritten(root *node, c *change, from *origin) *Map {
	if c.remove || root == nil {
		return nil
	}
	leaf := root.leaf(c.pos)
	if leaf.run != c.run {
		return nil
	}
	value, start, end, found := leaf.find(c.key)
	if !found || len(value) != len(c.value) {
		return nil
	}
	next, taken := another(end - start)
	next.count, next.size, next.run, next.root, next.origin = m.count, m.size, m.run, root, from
	buffer.Copy(taken, leaf.packed[start:end])
	leaf.packed = spoilt(leaf)
	buffer.Copy(leaf.packed[end-len(value):end], c.value)
	m.superseded(next, undo{item: taken})
	return next
}

// another returns a map, and so many bytes for what undoes the change that made it. If they are few they are in the same piece of memory: who has the version before
// has both.
func another(size int) (next *Map, taken []byte) {
	switch {
	case size <= 40:
		v := new(versionWith[[40]byte])
		return &v.Map, v.taken[:size]
	case size <= 88:
		v := new(versionWith[[88]byte])
		return &v.Map, v.taken[:size]
	}
	return new(Map), make([]byte, size)
}

// versionWith is a version of a map with what undoes the change that made it.
type versionWith[T any] struct {
	Map
	taken T
}

// frozenRoot returns the root, of which nothing is changed any more; nil if the map is empty.
func (m *Map) frozenRoot() *node {
	if m.run != nil {
		m.run.Lock()
		defer m.run.Unlock()
	}
	return m.freeze()
}

// freeze is frozenRoot, the run being locked.
func (m *Map) freeze() *node {
	var undone []undo
	latest := m
	for ; latest.next != nil; latest = latest.next {
		undone = append(undone, latest.undo)
	}
	if latest.run != nil { // else it is frozen, or the zero Map, which may be everybody's
		latest.frozen = true
	}
	if latest == m {
		return m.root
	}
	root, number := latest.root, runs.Add(1)
	for i := len(undone) - 1; i >= 0; i-- {
		c := undone[i].change()
		c.run = number
		root = root.changed(&c)
	}
	m.root, m.frozen, m.next, m.undo = root, true, nil, undo{}
	return root
}

// change returns the change that undoes.
func (u undo) change() change {
	key, value, _, _ := Next(u.item, 0)
	return change{pos: Position(key), key: key, value: value, remove: u.added}
}
