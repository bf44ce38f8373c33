package disk

import (
	"context"
	"time"
	"unsafe"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/table"
)

// batchSize is how much of what has changed is gathered before it is written.
const batchSize = mib

// batch is a part of a flush.
type batch struct {
	engine *Engine
	ctx    context.Context // once it has ended nothing waits any more
	items  []item
	size   int
	waits  bool  // what of the large may wait,
	waited int64 // and how many bytes of memory it takes
}

// item is a record on its way to the store. While it is, its entry is marked as flushing.
type item struct {
	slot   *slot
	at     []byte        // the store's key
	value  []byte        // nil: it is to be removed
	key    string        // the entry's; "" with meta
	rec    record.Record // what is yet to be encoded, which takes time: a large one with an object
	object record.Parted // of rec, which will be in parts
	apart  []byte        // what is apart
	away   elsewhere     // where the value will be,
	former elsewhere     // and where the one is that the store has;
	meta   bool          // the slot's state,
	// generation is the one in it.
	generation uint32
	// hadParts is the entry's mark.
	hadParts bool
}

// slot writes what has changed in a slot, as of now: what changes meanwhile waits for the
// next flush, or the loop could go on for ever.
func (b *batch) slot(s *slot) error {
	s.mu.Lock()
	b.meta(s)
	left := len(s.changed)
	s.mu.Unlock()
	for left > 0 {
		left -= b.collect(s, left)
		if b.size >= batchSize {
			if err := b.write(); err != nil {
				return err
			}
		}
	}
	return nil
}

func (b *batch) meta(s *slot) {
	if s.metaChanged {
		s.metaChanged = false
		b.add(item{slot: s, at: slotKey(s.number), value: encodeSlot(s, false), meta: true, generation: s.generation})
	}
}

func (b *batch) add(i item) {
	b.items = append(b.items, i)
	b.size += len(i.at) + len(i.value) + len(i.apart) + i.rec.State.Size()
}

// collect gathers up to limit changes of a slot, until the batch is large, and returns
// how many it has done.
func (b *batch) collect(s *slot, limit int) (done int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.changed) == 0 { // the slot was cleared
		return limit
	}
	limit = min(limit, len(s.changed))
	var waiting []string
	for done < limit && b.size < batchSize {
		if name := s.changed[done]; b.change(s, name) {
			waiting = append(waiting, name)
		}
		done++
	}
	if s.changed = append(s.changed[done:], waiting...); len(s.changed) == 0 {
		s.changed = nil
	}
	return done
}

// change gathers one change, or reports that it waits.
func (b *batch) change(s *slot, name string) (waits bool) {
	key := view(name)
	pos := engine.PositionOf(key)
	ref, found := s.table.Find(pos, key)
	if !found || ref.Marks()&dirty == 0 {
		return false
	}
	if b.mayWait(ref) {
		b.waited += memoryOf(ref) + sourceIn(ref).memory()
		return true
	}
	ref.Mark(ref.Marks()&^dirty | flushing)
	i := item{slot: s, at: appendKey(nil, s.number, s.generation, pos, key), key: name, hadParts: ref.Marks()&hadParts != 0}
	if ref.Marks()&gone == 0 {
		i.rec = ref.Record()
		i.object = b.engine.inParts(i.at, i.rec.State)
		if i.object != nil {
			i.object.Root() // now, when nothing has been made of it yet: see record.Parted
		}
		if i.rec.State.Object == nil { // it is borrowed
			i.encode(&b.engine.kind)
		}
	}
	b.add(i)
	return false
}

// mayWait reports whether an entry stays in the journal and in memory for now: for few bytes that change in an object the store takes whole parts, or all of
// it. What is not used any more does not keep others out of memory.
func (b *batch) mayWait(ref table.Ref) bool {
	opt := &b.engine.opt
	return b.waits && ref.Marks()&used != 0 && int64(ref.Size()) >= opt.WaitFrom && b.waited+memoryOf(ref)+sourceIn(ref).memory() <= opt.Cache/waitMost && ref.Record().State.Object != nil
}

// waitMost is which part of the cache may be objects that wait.
const waitMost = 2

// encode makes of the record what the store keeps of it.
func (i *item) encode(k *Kind) {
	rec := i.rec
	rec.State, i.rec = rec.State.Packed(), record.Record{}
	i.apart, i.away.number = k.encodeApart(i.at, view(i.key), rec.State.Value)
	i.value = encodeRecord(i.at, rec, i.away)
}

// view returns the bytes of a string, which nobody may change.
func view(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }

// write writes the batch to the store, and empties it. First all of it becomes durable in
// the journal: the store must never know what the journal could lose.
func (b *batch) write() error {
	began := time.Now()
	defer func() { b.rest(time.Since(began)) }()
	err := b.engine.journal.Sync(context.Background())
	if err == nil {
		err = b.toStore()
		b.engine.remember(b.items, err)
	}
	for start := 0; start < len(b.items); {
		end := start + 1
		for end < len(b.items) && b.items[end].slot == b.items[start].slot {
			end++
		}
		b.engine.settle(b.items[start:end], err)
		start = end
	}
	clear(b.items)
	b.items, b.size = b.items[:0], 0
	return err
}

// rest leaves processor and disk to clients for as long as the flusher has had them, unless it
// lags behind, or the engine is closed.
func (b *batch) rest(worked time.Duration) {
	if b.ctx.Err() != nil || b.engine.unflushed.Load() > b.engine.opt.FlushSize {
		return
	}
	select {
	case <-b.ctx.Done():
	case <-time.After(min(worked, restMost)):
	}
}

// restMost bounds a rest.
const restMost = 200 * time.Millisecond

// toStore writes the items: of objects in parts first the parts, then the records, then what is left to remove.
func (b *batch) toStore() (err error) {
	defer record.Catch(&err)
	e := b.engine
	w := stream{store: e.store}
	revisions, err := b.writeParts(&w)
	if err != nil {
		return err
	}
	err = e.store.Write(func(batch Writer) error {
		for i := range b.items {
			item := &b.items[i]
			if item.rec.State.Live() {
				item.encode(&e.kind)
			}
			if err := e.writeItem(batch, item); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil {
		return err
	}
	for i := range b.items {
		if was, is := b.items[i].former.parts.object, b.items[i].away.parts.object; was != is && was != 0 {
			e.end(objectKey(b.items[i].at, was))
		}
	}
	for _, v := range revisions {
		e.end(v.end()...)
	}
	return e.dropEnded(b.ctx)
}

// writeParts looks at what the store has of the items, and writes the parts of those that will be in parts.
func (b *batch) writeParts(w *stream) (revisions []*revision, err error) {
	e := b.engine
	err = e.store.View(func(r Reader) error {
		for n := range b.items {
			i := &b.items[n]
			if i.former = e.formerly(r, i); i.object != nil {
				revisions = append(revisions, revise(r, i.at, i.object, i.former.parts))
			}
		}
		return nil
	})
	if err != nil || len(revisions) == 0 {
		return nil, err
	}
	if err := e.firstParts(); err != nil {
		return nil, err
	}
	for n, next := 0, revisions; n < len(b.items); n++ {
		i := &b.items[n]
		if i.object == nil {
			continue
		}
		if err := next[0].begin(w); err != nil {
			return nil, err
		}
		i.away.parts, next = next[0].head, next[1:]
		i.value, i.rec = encodeRecord(i.at, i.rec, i.away), record.Record{}
	}
	return revisions, nil
}

// settle notes of items of one slot that the store has them now, or has not.
func (e *Engine) settle(items []item, failed error) {
	s := items[0].slot
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, i := range items {
		switch {
		case i.meta && failed != nil:
			s.metaChanged = true
			continue
		case i.meta:
			s.stored, s.settled = true, i.generation
			continue
		}
		key := view(i.key)
		pos := engine.PositionOf(key)
		ref, found := s.table.Find(pos, key)
		if !found || ref.Marks()&flushing == 0 { // the slot was cleared
			continue
		}
		ref.Mark(ref.Marks() &^ flushing)
		if failed == nil {
			ref.Mark(ref.Marks() &^ hadParts)
			if i.object != nil {
				ref.Mark(ref.Marks() | hadParts)
			}
		}
		switch {
		case failed != nil:
			e.change(s, ref, ref.Marks())
			e.changed(memoryOf(ref))
		case ref.Marks()&(gone|dirty) == gone:
			e.drop(s, pos, key)
		}
	}
}

// drop takes an entry out of memory.
func (e *Engine) drop(s *slot, pos engine.Position, key []byte) {
	ref, _ := s.table.Find(pos, key)
	e.grow(-memoryOf(ref))
	sourceIn(ref).leave()
	s.table.Remove(pos, key)
}
