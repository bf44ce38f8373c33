package datatype

import (
	"encoding/binary"
	"fmt"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype/parts"
)

// edit is what a command does to the fields of a hash: at most one thing to each. What it is given is borrowed. It is a value, whose list
// begins with memory of its maker, so that the usual edit allocates nothing.
type edit struct {
	list []fieldChange
	// places says where a field is in the list, once that is longer than it is quick to search.
	places map[string]int
}

// fieldChange is a field's new value, or its end.
type fieldChange struct {
	field, value []byte
	remove       bool
	there        bool // the hash has the field: set by hits
}

const (
	// searched is up to how many changes are searched one by one.
	searched = 8
	// usual is up to how many changes take no memory of their own.
	usual = 4
)

// add returns the edit with one more change. An earlier one of the same field is replaced.
func (e edit) add(c fieldChange) edit {
	if i := e.find(c.field); i >= 0 {
		e.list[i] = c
		return e
	}
	e.list = append(e.list, c)
	if len(e.list) <= searched {
		return e
	}
	if e.places == nil {
		e.places = make(map[string]int)
		for i, c := range e.list {
			e.places[string(c.field)] = i
		}
	}
	e.places[string(c.field)] = len(e.list) - 1
	return e
}

// find returns where a field is in the list, -1 if it is not.
func (e edit) find(field []byte) int {
	if e.places != nil {
		if i, found := e.places[string(field)]; found {
			return i
		}
		return -1
	}
	for i := range e.list {
		if string(e.list[i].field) == string(field) {
			return i
		}
	}
	return -1
}

// hit is a field of a hash that is changed: where it is, and by which change.
type hit struct{ start, end, change int }

// hits looks up the fields in a packed hash, and appends those that are there, in the hash's order.
func (e edit) hits(found []hit, hash []byte) []hit {
	if len(e.list) == 1 {
		if _, start, end, ok := parts.Find(hash, fieldsOf(hash).end, e.list[0].field); ok {
			found = append(found, hit{start, end, 0})
		}
		return found
	}
	for f := fieldsOf(hash); len(found) < len(e.list) && f.next(); {
		if i := e.find(f.field); i >= 0 {
			found = append(found, hit{f.start, f.end, i})
		}
	}
	return found
}

// space returns space behind a reply for what the changes of a hash make of it, if that is short.
func (e edit) space(reply []byte, h hash) ([]byte, space) {
	n := len(h.packed) + parts.UvarintSize(len(e.list)) // the number of fields may take more bytes than before
	for i := range e.list {
		n += parts.ItemSize(e.list[i].field, e.list[i].value)
	}
	return behind(reply, min(n, record.CopiedValue)+min(e.deltaSize(), record.CopiedValue))
}

// apply returns a hash with the changes, without any field if none is left, and how many of the fields that are changed were there.
// Changed fields of a packed hash keep their places, and new ones are last.
func (e edit) apply(h hash, s *space) (next hash, found int) {
	const most = 8 // part of the fields that are changed one after the other
	if h.parts == nil || len(e.list) > h.count()/most {
		var room [usual]hit
		packed := h.pack().packed
		hits := e.hits(room[:0], packed)
		next, found = e.applyPacked(packed, hits, s), len(hits)
	} else {
		next, found = e.applyToParts(h.parts)
	}
	return next.settled(), found
}

func (e edit) applyToParts(m *parts.Map) (next hash, found int) {
	for _, c := range e.list {
		var there bool
		if c.remove {
			m, there = m.Remove(c.field)
		} else {
			m, there = m.Set(c.field, c.value)
		}
		if there {
			found++
		}
	}
	return hash{parts: m}, found
}

// applyPacked is apply for a packed hash, and what hits has found in it.
func (e edit) applyPacked(packed []byte, hits []hit, s *space) hash {
	count, size := hash{packed: packed}.count(), 0
	for _, h := range hits {
		e.list[h.change].there = true
		size -= h.end - h.start
	}
	for i := range e.list {
		switch c := &e.list[i]; {
		case !c.remove:
			size += parts.ItemSize(c.field, c.value)
			if !c.there {
				count++
			}
		case c.there:
			count--
		}
	}
	if count == 0 {
		return hash{}
	}
	at := fieldsOf(packed).end
	value := binary.AppendUvarint(s.take(parts.UvarintSize(count)+len(packed)-at+size), uint64(count))
	for _, h := range hits {
		value = e.list[h.change].append(buffer.Append(value, packed[at:h.start]))
		at = h.end
	}
	value = buffer.Append(value, packed[at:])
	for i := range e.list {
		if c := &e.list[i]; !c.there {
			value = c.append(value)
		}
	}
	return hash{packed: value}
}

// append appends what a packed hash has of the field then.
func (c *fieldChange) append(dst []byte) []byte {
	if c.remove {
		return dst
	}
	return parts.AppendItem(dst, c.field, c.value)
}

// contents are what a key has of fields, or of members.
type contents interface {
	count() int
	size() int
	state(expireAt int64) record.State
}

// effectOf is the effect of the changes, after which a key has the contents next. fits is false if these are longer than longest.
func effectOf[C contents](e edit, old record.State, next C, longest int, s *space) (eff record.Effect, fits bool) {
	size := next.size()
	if next.count() == 0 {
		if !old.Live() {
			return noEffect, true
		}
		return deleted(), true
	}
	if size > longest {
		return noEffect, false
	}
	eff = record.Effect{Kind: record.Replaced, State: next.state(old.ExpireAt)}
	if old.Live() && size > minSpliceValue && e.deltaSize() < size/minSpliceGain {
		eff.Kind, eff.Delta = record.Changed, e.appendDelta(s.take(e.deltaSize()))
	}
	return eff, true
}

// deltaSize is how many bytes appendDelta appends.
func (e edit) deltaSize() int {
	size := 1
	for i := range e.list {
		c := &e.list[i]
		size += namedSize(c.field)
		if !c.remove {
			size += parts.LengthenedSize(len(c.value))
		}
	}
	return size
}

// appendDelta encodes the changes: of each the length of the field, twice, and one more if it is removed, the field, and
// the value with its length.
func (e edit) appendDelta(delta []byte) []byte {
	delta = append(delta, deltaFields)
	for i := range e.list {
		c := &e.list[i]
		delta = appendNamed(delta, c.field, c.remove)
		if !c.remove {
			delta = parts.AppendLengthened(delta, c.value)
		}
	}
	return delta
}

// decodeEdit reads what appendDelta wrote, without its tag, into an edit that is empty. The edit borrows it.
func decodeEdit(e edit, body []byte) (_ edit, ok bool) {
	for len(body) > 0 {
		name, remove, end, ok := named(body)
		if !ok {
			return e, false
		}
		c := fieldChange{field: name, remove: remove}
		if !c.remove {
			if c.value, end, ok = parts.Lengthened(body, end); !ok {
				return e, false
			}
		}
		e = e.add(c)
		body = body[end:]
	}
	return e, len(e.list) > 0
}

// applyFields is the verb apply of hashes.
func applyFields(st record.State, body []byte, s *space) (record.State, error) {
	var room [usual]fieldChange
	e, ok := decodeEdit(edit{list: room[:0]}, body)
	if !ok {
		return record.State{}, fmt.Errorf("%w: bad fields", ErrDelta)
	}
	next, _ := e.apply(hashIn(st), s)
	if next.count() == 0 || next.size() > MaxCollectionLen {
		return record.State{}, fmt.Errorf("%w: fields that leave a hash of %d bytes", ErrDelta, next.size())
	}
	return next.state(st.ExpireAt), nil
}
