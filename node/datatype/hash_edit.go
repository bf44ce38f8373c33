package datatype

import (
	"encoding/binary"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype/parts"
)

// edit is what a command does to the fields of a hash: at most one thing to each. What it is given is borrowed.
type edit struct {
	list []fieldChange
	// places says where a field is in the list, once that is longer than it is quick to search.
	places map[string]int
}

// fieldChange is a field's new value, or its end.
type fieldChange struct {
	field, value []byte
	remove       bool
}

// searched is up to how many changes are searched one by one.
const searched = 8

// add adds a change. An earlier one of the same field is replaced.
func (e *edit) add(c fieldChange) {
	if i := e.find(c.field); i >= 0 {
		e.list[i] = c
		return
	}
	e.list = append(e.list, c)
	if len(e.list) <= searched {
		return
	}
	if e.places == nil {
		e.places = make(map[string]int)
		for i, c := range e.list {
			e.places[string(c.field)] = i
		}
	}
	e.places[string(c.field)] = len(e.list) - 1
}

// find returns where a field is in the list, -1 if it is not.
func (e *edit) find(field []byte) int {
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

// hits looks up the fields in a packed hash and returns those that are there, in the hash's order.
func (e *edit) hits(hash []byte) []hit {
	var found []hit
	for f := fieldsOf(hash); len(found) < len(e.list) && f.next(); {
		if i := e.find(f.field); i >= 0 {
			found = append(found, hit{f.start, f.end, i})
		}
	}
	return found
}

// apply returns a hash with the changes, without any field if none is left, and how many of the fields that are changed were there.
// Changed fields of a packed hash keep their places, and new ones are last.
func (e *edit) apply(h hash) (next hash, found int) {
	const most = 8 // part of the fields that are changed one after the other
	if h.parts == nil || len(e.list) > h.count()/most {
		next, found = e.applyPacked(h.pack().packed)
	} else {
		next, found = e.applyToParts(h.parts)
	}
	return next.settled(), found
}

func (e *edit) applyToParts(m *parts.Map) (next hash, found int) {
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

func (e *edit) applyPacked(packed []byte) (next hash, found int) {
	hits := e.hits(packed)
	there := make([]bool, len(e.list))
	count, size := hash{packed: packed}.count(), 0
	for _, h := range hits {
		there[h.change] = true
		size -= h.end - h.start
	}
	for i, c := range e.list {
		switch {
		case !c.remove:
			size += parts.ItemSize(c.field, c.value)
			if !there[i] {
				count++
			}
		case there[i]:
			count--
		}
	}
	if count == 0 {
		return hash{}, len(hits)
	}
	at := fieldsOf(packed).end
	value := binary.AppendUvarint(make([]byte, 0, parts.UvarintSize(count)+len(packed)-at+size), uint64(count))
	for _, h := range hits {
		value = e.list[h.change].append(buffer.Append(value, packed[at:h.start]))
		at = h.end
	}
	value = buffer.Append(value, packed[at:])
	for i, c := range e.list {
		if !there[i] {
			value = c.append(value)
		}
	}
	return hash{packed: value}, len(hits)
}

// append appends what a packed hash has of the field then.
func (c *fieldChange) append(dst []byte) []byte {
	if c.remove {
		return dst
	}
	return parts.AppendItem(dst, c.field, c.value)
}

// effect is the effect of the changes, after which a key has the hash next. fits is false if that is longer than longest.
func (e *edit) effect(old record.State, next hash, longest int) (eff record.Effect, fits bool) {
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
	if old.Live() && size > minSpliceValue {
		if delta := e.delta(size / minSpliceGain); delta != nil {
			eff.Kind, eff.Delta = record.Changed, delta
		}
	}
	return eff, true
}

// delta encodes the changes: of each the length of the field, twice, and one more if it is removed, the field, and
// the value with its length. It is nil if it would be as long as most.
func (e *edit) delta(most int) []byte {
	size := 1
	for _, c := range e.list {
		size += parts.UvarintSize(len(c.field)<<1|1) + len(c.field)
		if !c.remove {
			size += parts.LengthenedSize(len(c.value))
		}
	}
	if size >= most {
		return nil
	}
	delta := append(make([]byte, 0, size), deltaFields)
	for _, c := range e.list {
		head := uint64(len(c.field)) << 1
		if c.remove {
			head |= 1
		}
		delta = buffer.Append(binary.AppendUvarint(delta, head), c.field)
		if !c.remove {
			delta = parts.AppendLengthened(delta, c.value)
		}
	}
	return delta
}

// decodeEdit reads what delta wrote, without its tag. The edit borrows it.
func decodeEdit(body []byte) (e edit, ok bool) {
	for len(body) > 0 {
		head, size := binary.Uvarint(body)
		if size <= 0 || head>>1 > uint64(len(body)-size) {
			return e, false
		}
		end := size + int(head>>1)
		c := fieldChange{field: body[size:end], remove: head&1 != 0}
		if !c.remove {
			if c.value, end, ok = parts.Lengthened(body, end); !ok {
				return e, false
			}
		}
		e.add(c)
		body = body[end:]
	}
	return e, len(e.list) > 0
}
