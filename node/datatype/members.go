package datatype

import (
	"fmt"
	"iter"
	"strconv"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype/parts"
)

// members is what a key has of a set, to look at: integers, packed in ascending order, if all are and they are few, as in Redis; or else what a hash is that has
// the members for fields and empty values, packed in the order in which they came or in parts. What the members are is all that decides which. A set without
// members does not exist.
type members struct {
	ints integers
	hash hash
}

// setVerbs are the verbs of sets.
var setVerbs = verbs{
	valid: validSet,
	live: func(value []byte) record.Object {
		if m := (hash{packed: value}).settled().parts; m != nil && memberMap(m) {
			return m
		}
		return nil
	},
	build: func(size int) record.Builder { return setBuilder{parts.NewBuilder(size)} },
	assemble: func(root record.Place, from record.Source) (record.Object, error) {
		return parts.AssembleMap(root, from)
	},
	longest: longestCollection,
	delta:   deltaFields, apply: applyMembers,
}

// validSet reports whether bytes from elsewhere are a packed set.
func validSet(packed []byte) bool {
	if isIntegers(packed) {
		return integers(packed).valid()
	}
	m, ok := parts.Unpack(packed)
	return ok && memberMap(m)
}

// memberMap reports whether a map is the members of a set: none has a value, and they are not to be packed integers.
func memberMap(m *parts.Map) bool {
	for _, value := range m.All() {
		if len(value) > 0 {
			return false
		}
	}
	return !(hash{parts: m}).integers()
}

// integers reports whether the members of a set are to be packed integers.
func (h hash) integers() bool {
	n := h.count()
	if n == 0 || n > maxIntegers {
		return false
	}
	if h.parts == nil {
		for f := fieldsOf(h.packed); f.next(); {
			if _, ok := parseInt(f.field); !ok {
				return false
			}
		}
		return true
	}
	for member := range h.parts.All() {
		if _, ok := parseInt(member); !ok {
			return false
		}
	}
	return true
}

// setBuilder builds a set that is in parts.
type setBuilder struct{ *parts.Builder }

// State implements record.Builder.
func (b setBuilder) State() (record.State, error) {
	m, err := b.Map()
	if err != nil {
		return record.State{}, fmt.Errorf("%w: %w", ErrBuild, err)
	}
	if settled := (hash{parts: m}).settled(); settled.parts == nil || !memberMap(m) {
		return record.State{}, fmt.Errorf("%w: %d items of %d bytes are no set, or one that is packed", ErrBuild, m.Len(), m.Size())
	}
	return record.State{Type: record.Set, Object: m}, nil
}

// membersIn returns the set that a state has, or an empty one.
func membersIn(st record.State) members {
	if isIntegers(st.Value) {
		return members{ints: st.Value}
	}
	return members{hash: hashIn(st)}
}

// asElements looks at the set of a state as elements.
func asElements(st record.State) elements { return membersIn(st) }

// state returns the state of a key with the set.
func (m members) state(expireAt int64) record.State {
	if m.ints != nil {
		return record.State{Type: record.Set, ExpireAt: expireAt, Value: m.ints}
	}
	st := m.hash.state(expireAt)
	st.Type = record.Set
	return st
}

// count implements elements.
func (m members) count() int {
	if m.ints != nil {
		return m.ints.count()
	}
	return m.hash.count()
}

// size returns how many bytes the set has when it is packed.
func (m members) size() int {
	if m.ints != nil {
		return len(m.ints)
	}
	return m.hash.size()
}

// has reports whether there is such a member.
func (m members) has(member []byte) bool {
	if m.ints != nil {
		return m.ints.has(member)
	}
	_, found := m.hash.get(member)
	return found
}

// all implements elements.
func (m members) all() iter.Seq2[[]byte, []byte] {
	if m.ints != nil {
		return m.ints.all()
	}
	return m.hash.all()
}

// at implements elements.
func (m members) at(rank int) (member, none []byte) {
	if m.ints != nil {
		return strconv.AppendInt(nil, m.ints.at(rank), 10), nil
	}
	return m.hash.at(rank)
}

// byPosition implements elements.
func (m members) byPosition() *parts.Map { return m.hash.parts }

// settled returns the set in the form that suits its members; see hash.settled for why nothing else decides about it.
func (m members) settled(s *space) members {
	if m.ints != nil {
		return m
	}
	if m.hash.integers() {
		return members{ints: integersOf(m.hash, s)}
	}
	return members{hash: m.hash.settled()}
}
