package disk

import (
	"github.com/quolldb/quoll/internal/record"
)

// revision is an object on its way to the store: which of its parts the store has, which are to be written, and which it needs no more. Only what
// the head in the store names counts as there, whatever parts say of themselves: an object may come from anywhere.
type revision struct {
	at     []byte
	object record.Parted
	head   head // the new one; next is the number of the next part
	first  uint64
	// kept are parts that the object says it has in the store, and whether the head there has them; deep says of these whether they have parts below. stale are those
	// that it has not.
	kept, deep, stale map[uint64]bool
	obsolete          []uint64
	written           []numbered
}

// numbered is a part that has been written under a number.
type numbered struct {
	part   record.Part
	number uint64
}

// revise finds out what is to be done for an object, the record being at a key. Former is the head that the store has, if any.
func revise(r Reader, at []byte, object record.Parted, former head) *revision {
	v := &revision{at: at, object: object, head: former, stale: map[uint64]bool{}, deep: map[uint64]bool{}}
	if former.object == 0 {
		v.head = head{object: newNumber(), next: 1}
	}
	v.first = v.head.next
	for found := true; found; {
		v.kept, v.obsolete = map[uint64]bool{}, nil
		v.claim(object.Root())
		if former.object != 0 {
			v.compare(r, former.root, former.deep)
		}
		found = false
		for number, there := range v.kept {
			if !there {
				v.stale[number], found = true, true
			}
		}
	}
	return v
}

// claims returns the number under which a part says it is in the store, 0 if there is none.
func (v *revision) claims(p record.Part) uint64 {
	place := p.Stored()
	if place.Object != v.head.object || place.Part >= v.first || v.stale[place.Part] {
		return 0
	}
	return place.Part
}

// claim notes the uppermost parts that say they are in the store.
func (v *revision) claim(p record.Part) {
	if number := v.claims(p); number != 0 {
		v.kept[number] = false
		return
	}
	for i := range p.Parts() {
		v.claim(p.Part(i))
	}
}

// compare goes through what the store has, as far as the object does not have it: that is obsolete. A part that cannot be read hides
// those below it, which are written again then; the sweep finds them.
func (v *revision) compare(r Reader, number uint64, deep bool) {
	if _, claimed := v.kept[number]; claimed {
		v.kept[number], v.deep[number] = true, deep
		return
	}
	v.obsolete = append(v.obsolete, number)
	if !deep {
		return
	}
	b, _, err := readPart(r, v.at, record.Place{Object: v.head.object, Part: number})
	if err != nil {
		return
	}
	for _, number := range b.parts {
		v.compare(r, number, b.deep)
	}
}

// writeParts writes what the store does not have of a part and what is below it, that first. It returns the part's number, and whether there is something below. Of a
// part that the store has nothing else is asked, since that may not be in memory.
func (v *revision) writeParts(w *stream, p record.Part) (number uint64, deep bool, err error) {
	if number := v.claims(p); number != 0 {
		return number, v.deep[number], nil
	}
	b := below{parts: make([]uint64, p.Parts())}
	for i := range b.parts {
		if b.parts[i], deep, err = v.writeParts(w, p.Part(i)); err != nil {
			return 0, false, err
		}
		b.deep = b.deep || deep
	}
	number = v.head.next
	v.head.next++
	v.written = append(v.written, numbered{p, number})
	key := partKey(v.at, record.Place{Object: v.head.object, Part: number})
	return number, len(b.parts) > 0, w.set(key, encodePart(key, b, p))
}

// begin writes the parts that the store does not have. The head is to be written next.
func (v *revision) begin(w *stream) (err error) {
	if v.head.root, v.head.deep, err = v.writeParts(w, v.object.Root()); err != nil {
		return err
	}
	return w.flush()
}

// end follows the head: the parts note where they are. It returns the keys of what is obsolete.
func (v *revision) end() (obsolete [][]byte) {
	for _, n := range v.written {
		*n.part.Stored() = record.Place{Object: v.head.object, Part: n.number}
	}
	for _, number := range v.obsolete {
		obsolete = append(obsolete, partKey(v.at, record.Place{Object: v.head.object, Part: number}))
	}
	return obsolete
}

// stream writes to the store in order, in calls of a bounded size.
type stream struct {
	store Store
	ops   []op
	size  int
}

// op sets a key, or removes it if value is nil.
type op struct{ key, value []byte }

func (w *stream) set(key, value []byte) error { return w.add(op{key, value}) }
func (w *stream) remove(key []byte) error     { return w.add(op{key: key}) }

func (w *stream) add(o op) error {
	w.ops, w.size = append(w.ops, o), w.size+len(o.key)+len(o.value)
	if w.size < batchSize {
		return nil
	}
	return w.flush()
}

func (w *stream) flush() error {
	if len(w.ops) == 0 {
		return nil
	}
	err := w.store.Write(func(batch Writer) error {
		for _, o := range w.ops {
			if err := o.write(batch); err != nil {
				return err
			}
		}
		return nil
	})
	w.ops, w.size = nil, 0
	return err
}

func (o op) write(batch Writer) error {
	if o.value == nil {
		return batch.Delete(o.key)
	}
	return batch.Set(o.key, o.value)
}
