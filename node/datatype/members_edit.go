package datatype

import (
	"encoding/binary"
	"fmt"
	"slices"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype/parts"
)

// integersOf packs the members of a set, all of which are integers.
func integersOf(h hash, s *space) integers {
	list := make([]int64, 0, h.count())
	for member := range h.all() {
		v, _ := parseInt(member)
		list = append(list, v)
	}
	slices.Sort(list)
	return packIntegers(list, s)
}

// unpacked returns integers as the members of another form of set.
func (s integers) unpacked() hash {
	if s == nil {
		return hash{}
	}
	const longest = 20 // of an integer that is written
	packed := binary.AppendUvarint(make([]byte, 0, parts.UvarintSize(s.count())+s.count()*(longest+2)), uint64(s.count()))
	for member := range s.all() {
		packed = parts.AppendItem(packed, member, nil)
	}
	return hash{packed: packed}
}

// setSpace returns space behind a reply for what the changes of a set make of it, if that is short.
func (e edit) setSpace(reply []byte, m members) ([]byte, space) {
	if m.count() > 0 && m.ints == nil {
		return e.space(reply, m.hash)
	}
	n := integersHead + (m.count()+len(e.list))*8
	for i := range e.list {
		n += parts.ItemSize(e.list[i].field, nil)
	}
	return behind(reply, min(n, record.CopiedValue)+min(e.deltaSize(), record.CopiedValue))
}

// applyToSet is apply for a set.
func (e edit) applyToSet(m members, s *space) (next members, found int) {
	if m.count() == 0 || m.ints != nil {
		if ints, found, ok := e.applyToIntegers(m.ints, s); ok {
			return members{ints: ints}, found
		}
		m = members{hash: m.ints.unpacked()}
	}
	next.hash, found = e.apply(m.hash, s)
	if next.count() == 0 {
		return members{}, found
	}
	return next.settled(s), found
}

// applyToIntegers is apply for integers. It reports false if the set would have other members, or too many.
func (e edit) applyToIntegers(ints integers, s *space) (next integers, found int, ok bool) {
	for i := range e.list {
		if _, ok := parseInt(e.list[i].field); !ok && !e.list[i].remove {
			return nil, 0, false
		}
	}
	if len(e.list) == 1 {
		return e.list[0].applyToIntegers(ints, s)
	}
	var gone [maxIntegers]bool
	var list []int64
	for i := range e.list {
		v, ok := parseInt(e.list[i].field)
		if !ok {
			continue
		}
		rank, there := ints.find(v)
		if there {
			found++
			gone[rank] = e.list[i].remove
		} else if !e.list[i].remove {
			list = append(list, v)
		}
	}
	for i := range ints.count() {
		if !gone[i] {
			list = append(list, ints.at(i))
		}
	}
	if len(list) > maxIntegers {
		return nil, 0, false
	}
	slices.Sort(list)
	return packIntegers(list, s), found, true
}

// applyToIntegers is that of an edit for its only change.
func (c *fieldChange) applyToIntegers(ints integers, s *space) (next integers, found int, ok bool) {
	v, ok := parseInt(c.field)
	if !ok {
		return ints, 0, true
	}
	rank, there := ints.find(v)
	if there {
		found = 1
	}
	if there != c.remove {
		return ints, found, true
	}
	if !c.remove && ints.count() == maxIntegers {
		return nil, 0, false
	}
	return ints.changed(v, rank, c.remove, s), found, true
}

// applyMembers is the verb apply of sets.
func applyMembers(st record.State, body []byte, s *space) (record.State, error) {
	var room [usual]fieldChange
	e, ok := decodeEdit(edit{list: room[:0]}, body)
	if !ok || slices.ContainsFunc(e.list, func(c fieldChange) bool { return len(c.value) > 0 }) {
		return record.State{}, fmt.Errorf("%w: bad members", ErrDelta)
	}
	next, _ := e.applyToSet(membersIn(st), s)
	if next.count() == 0 || next.size() > MaxCollectionLen {
		return record.State{}, fmt.Errorf("%w: members that leave a set of %d bytes", ErrDelta, next.size())
	}
	return next.state(st.ExpireAt), nil
}
