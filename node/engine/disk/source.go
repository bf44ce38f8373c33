package disk

import (
	"errors"
	"fmt"
	"slices"
	"sync"
	"weak"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

// source is where an object reads its parts from that was read from the store, and is a record.Source. An object that is not small reads them when they
// are needed. Somebody may keep a version of it that nobody else has any more, with parts that are not read yet. So what the store
// has of an object stays as long as there may be such a version. What the table has is none: what is not read of that the head in the store names, since
// a change reads what it replaces, and all versions of one source share what was read. An object enters the table by being read from the store, or as
// a change of what is there; any other one is read whole before, see own.
//
// Nobody says that he needs a version no more: when the collector has taken the last one of a source, the engine finds a weak pointer empty. What was to be removed
// before waits for that, see Engine.end.
type source struct {
	engine     *Engine
	slot       uint16
	generation uint32
	at         []byte // the store's key of the record
	object     uint64
	first      Reader // while the object is being put together, which is not later

	mu    sync.Mutex
	kept  int64 // bytes of memory
	table bool  // the table has the newest version, and the engine counts the memory
}

var _ record.Source = (*source)(nil)

// Read implements record.Source. Whatever goes wrong is damage of the slot, which is reported: who reads on may be far from who can act on it.
func (q *source) Read(at record.Place, decode func(content []byte, below []record.Place) error) error {
	read := func(r Reader) error {
		b, content, err := readPart(r, q.at, at)
		if err != nil {
			return err
		}
		places := make([]record.Place, len(b.parts))
		for i, number := range b.parts {
			places[i] = record.Place{Object: at.Object, Part: number}
		}
		return decode(content, places)
	}
	if q.first != nil {
		return read(q.first)
	}
	err := q.engine.view(read)
	if err == nil || errors.Is(err, engine.ErrClosed) {
		return err
	}
	err = fmt.Errorf("%w: slot %d, a part of a record: %w", engine.ErrCorrupt, q.slot, err)
	q.engine.doubts.add(doubt{q.slot, q.generation, err})
	q.engine.wake(q.engine.reportNow)
	return err
}

// view is Store.View until the store is closed: objects may outlive it.
func (e *Engine) view(read func(Reader) error) error {
	e.reads.RLock()
	defer e.reads.RUnlock()
	if e.shut {
		return engine.ErrClosed
	}
	return e.store.View(read)
}

// Whole implements record.Source.
func (q *source) Whole(size int) bool { return int64(size) < q.engine.opt.LazyFrom }

// Room implements record.Source.
func (q *source) Room(n int) bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.table && q.engine.memory.Load()+int64(n) <= q.engine.opt.Cache
}

// Kept implements record.Source.
func (q *source) Kept(n int) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.kept += int64(n)
	if q.table {
		q.engine.grow(int64(n))
	}
}

// enter notes that the table has the newest version of the source, leave that it has no more. A nil source is that of an object that is all in memory.
func (q *source) enter() { q.be(true) }
func (q *source) leave() { q.be(false) }

func (q *source) be(in bool) {
	if q == nil {
		return
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.table == in {
		return
	}
	q.table = in
	if in {
		q.engine.grow(q.kept)
	} else {
		q.engine.grow(-q.kept)
	}
}

// memory returns how many bytes what was read takes.
func (q *source) memory() int64 {
	if q == nil {
		return 0
	}
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.kept
}

// inTable reports whether the table has the newest version.
func (q *source) inTable() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.table
}

// sourceOf returns the source that the object of a state reads from, nil if there is none.
func sourceOf(st record.State) *source {
	if st.Object == nil {
		return nil
	}
	object, ok := st.Object.(record.Parted)
	if !ok {
		return nil
	}
	q, _ := object.Source().(*source)
	return q
}

// sources are those that somebody may have, by the number of their object.
type sources struct {
	mu sync.Mutex
	of map[uint64][]weak.Pointer[source]
}

func (l *sources) add(q *source) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil {
		l.of = map[uint64][]weak.Pointer[source]{}
	}
	l.of[q.object] = append(l.of[q.object], weak.Make(q))
}

// held reports whether somebody may yet read what the store has of an object besides what its head names.
func (l *sources) held(object uint64) bool {
	return l.any(object, func(q *source) bool { return !q.inTable() })
}

// heldBefore reports whether somebody may yet read what a slot had before a generation.
func (l *sources) heldBefore(slot uint16, generation uint32) bool {
	for _, object := range l.objects() {
		if l.any(object, func(q *source) bool { return q.slot == slot && q.generation < generation }) {
			return true
		}
	}
	return false
}

func (l *sources) objects() (all []uint64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for object := range l.of {
		all = append(all, object)
	}
	return all
}

// any reports whether a source of an object is as asked for, and forgets those that nobody has any more.
func (l *sources) any(object uint64, is func(*source) bool) (found bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	list, there := l.of[object]
	if !there {
		return false
	}
	list = slices.DeleteFunc(list, func(p weak.Pointer[source]) bool {
		q := p.Value()
		found = found || q != nil && is(q)
		return q == nil
	})
	if len(list) == 0 {
		delete(l.of, object)
	} else {
		l.of[object] = list
	}
	return found
}

// prune forgets the sources that nobody has any more.
func (l *sources) prune() {
	for _, object := range l.objects() {
		l.any(object, func(*source) bool { return false })
	}
}
