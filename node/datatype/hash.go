package datatype

import (
	"encoding/binary"
	"fmt"
	"iter"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype/parts"
)

// hash is what a key has of fields, to look at: packed if they are few and short, or else in parts. See package parts for both. A packed one keeps its fields
// in the order in which they came, as Redis does with small hashes. A hash without fields does not exist.
type hash struct {
	packed []byte
	parts  *parts.Map // nil: packed
}

// A hash with more fields or bytes is in parts. Fewer are packed as long as Redis would pack them (hash-max-listpack-entries, and as many values of
// hash-max-listpack-value bytes).
const (
	packedFields = 128
	packedSize   = 16 << 10
)

// hashVerbs are the verbs of hashes.
var hashVerbs = verbs{
	valid: validHash,
	live:  liveHash,
	build: func(size int) record.Builder { return hashBuilder{parts.NewBuilder(size)} },
	assemble: func(root record.Place, from record.Source) (record.Object, error) {
		return parts.AssembleMap(root, from)
	},
	longest: longestCollection,
	delta:   deltaFields, apply: applyFields,
}

// liveHash is the verb live of hashes.
func liveHash(packed []byte) record.Object {
	if m := (hash{packed: packed}).settled().parts; m != nil {
		return m
	}
	return nil
}

// hashBuilder builds a hash that is in parts.
type hashBuilder struct{ *parts.Builder }

// State implements record.Builder.
func (b hashBuilder) State() (record.State, error) {
	m, err := b.Map()
	if err != nil {
		return record.State{}, fmt.Errorf("%w: %w", ErrBuild, err)
	}
	if settled := (hash{parts: m}).settled(); settled.parts == nil {
		return record.State{}, fmt.Errorf("%w: a hash of %d fields and %d bytes is packed", ErrBuild, m.Len(), m.Size())
	}
	return record.State{Type: record.Hash, Object: m}, nil
}

// hashIn returns the hash that a state has, or an empty one.
func hashIn(st record.State) hash {
	m, _ := st.Object.(*parts.Map)
	return hash{st.Value, m}
}

// state returns the state of a key with the hash.
func (h hash) state(expireAt int64) record.State {
	if h.parts != nil {
		return record.State{Type: record.Hash, ExpireAt: expireAt, Object: h.parts}
	}
	return record.State{Type: record.Hash, ExpireAt: expireAt, Value: h.packed}
}

// count returns how many fields there are.
func (h hash) count() int {
	if h.parts != nil {
		return h.parts.Len()
	}
	n, size := binary.Uvarint(h.packed)
	if size <= 0 || n > uint64(len(h.packed)) {
		return 0
	}
	return int(n)
}

// size returns how many bytes the hash has when it is packed.
func (h hash) size() int {
	if h.parts != nil {
		return h.parts.Size()
	}
	return len(h.packed)
}

// get returns the value of a field.
func (h hash) get(field []byte) (value []byte, found bool) {
	if h.parts != nil {
		return h.parts.Get(field)
	}
	at := h.locate(field)
	return at.value, at.found
}

// located is a field that was looked up: its value, and where a packed hash has it.
type located struct {
	value      []byte
	start, end int
	found      bool
}

// locate looks a field up.
func (h hash) locate(field []byte) (at located) {
	if h.parts != nil {
		at.value, at.found = h.parts.Get(field)
		return at
	}
	at.value, at.start, at.end, at.found = parts.Find(h.packed, fieldsOf(h.packed).end, field)
	return at
}

// all goes through the fields and their values.
func (h hash) all() iter.Seq2[[]byte, []byte] {
	if h.parts != nil {
		return h.parts.All()
	}
	return func(yield func(field, value []byte) bool) {
		for f := fieldsOf(h.packed); f.next(); {
			if !yield(f.field, f.value) {
				return
			}
		}
	}
}

// at returns the field with a rank.
func (h hash) at(rank int) (field, value []byte) {
	if h.parts != nil {
		return h.parts.At(rank)
	}
	f := fieldsOf(h.packed)
	for range rank + 1 {
		f.next()
	}
	return f.field, f.value
}

// byPosition implements elements.
func (h hash) byPosition() *parts.Map { return h.parts }

// fields goes through a packed hash. What is damaged ends it.
type fields struct {
	hash []byte
	// start is where the current field begins, end where the next one does.
	start, end int
	// field and value are those of the current field, parts of hash.
	field, value []byte
}

// fieldsOf returns what goes through a packed hash, or through no hash.
func fieldsOf(hash []byte) fields {
	_, size := binary.Uvarint(hash)
	return fields{hash: hash, end: max(size, 0)}
}

// next goes to the next field, and reports whether there is one.
func (f *fields) next() (ok bool) {
	f.start = f.end
	f.field, f.value, f.end, ok = parts.Next(f.hash, f.start)
	return ok
}

// settled returns the hash in the form that suits its size. Nothing else decides about the form: a replica that is sent the whole hash
// must have the one that the home has, or the next delta would leave them with the fields in different orders.
func (h hash) settled() hash {
	if h.count() <= packedFields && h.size() <= packedSize {
		return h.pack()
	}
	if h.parts == nil {
		if m, ok := parts.Unpack(h.packed); ok {
			return hash{parts: m}
		}
	}
	return h
}

// pack returns the hash packed.
func (h hash) pack() hash {
	if h.parts == nil {
		return h
	}
	return hash{packed: h.parts.AppendTo(make([]byte, 0, h.parts.Size()))}
}

// validHash reports whether bytes from elsewhere are a packed hash.
func validHash(packed []byte) bool {
	_, ok := parts.Unpack(packed)
	return ok
}
