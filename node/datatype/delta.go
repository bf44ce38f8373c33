package datatype

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype/parts"
)

// ErrDelta is returned (wrapped) by Apply for a delta that is malformed or was not
// made from the given state. The replica needs the full state instead.
var ErrDelta = errors.New("datatype: delta does not fit the state")

// A delta is a tag byte and what the tag says. Numbers are uvarints. The tags are
// sent between nodes: append only, never renumber.
const (
	// deltaSplice: old length, growth, offset, then bytes to the end: grow the value
	// by zero bytes, then overwrite it at the offset.
	deltaSplice = 1
	// deltaExpiry, of any type: the new expiry in Unix milliseconds, 0 for none.
	deltaExpiry = 2
	// deltaFields: fields of a hash that are set or removed, or members of a set, whose values are empty; see edit.appendDelta.
	deltaFields = 3
	// deltaScores: members of a sorted set that are set or removed, or ranks that are; see scoresDelta.
	deltaScores = 7
	// deltaRegisters: registers of a HyperLogLog, which is a string; see encodeRegisters.
	deltaRegisters = 10
	// deltaPatch, of any type whose value is bytes: see record.Patch.
	deltaPatch = record.PatchTag
	// deltaElements: elements of a list that others take the place of; see cuts.appendDelta.
	deltaElements = 5
	// deltaStream: elements of a stream that are set, removed, or cut out; see streamEdit.
	deltaStream = 11
	// deltaSeveral, of any type: deltas one after the other, each behind its length; see deltaList.
	deltaSeveral = 12
)

func encodeExpiry(at int64) []byte {
	return binary.AppendUvarint([]byte{deltaExpiry}, uint64(at))
}

// Apply replays an effect's delta on another copy of the state that it was made
// from, and returns the new state. Neither st.Value nor delta is changed or kept,
// except that a delta that leaves the value alone returns st.Value itself. The
// result is never longer than MaxValueLen, a collection than MaxCollectionLen, whatever the delta says. Errors wrap
// ErrDelta, or are of the store that has parts of the object, and could not read one.
func Apply(st record.State, delta []byte) (record.State, error) { return apply(st, delta, new(space)) }

func apply(st record.State, delta []byte, s *space) (next record.State, err error) {
	defer record.Catch(&err)
	if len(delta) == 0 {
		return record.State{}, fmt.Errorf("%w: it is empty", ErrDelta)
	}
	tag, body := delta[0], delta[1:]
	switch tag {
	case deltaExpiry:
		return applyExpiry(st, body)
	case deltaPatch:
		return applyPatch(st, delta, s)
	case deltaRegisters:
		return applyRegisters(st, body)
	case deltaSeveral:
		return applySeveral(st, body, s)
	}
	if v := verbsOf(st.Type); v != nil && v.delta == tag {
		return v.apply(st, body, s)
	}
	return record.State{}, fmt.Errorf("%w: tag %d for a %s", ErrDelta, tag, st.Type)
}

func applyPatch(st record.State, delta []byte, s *space) (record.State, error) {
	p, ok := record.PatchOf(st, delta)
	if !ok {
		return record.State{}, fmt.Errorf("%w: a patch of another value than this one of %d bytes", ErrDelta, st.Size())
	}
	return p.Of(st, s.take(len(st.Value))), nil
}

func applyExpiry(st record.State, body []byte) (record.State, error) {
	at, size := binary.Uvarint(body)
	if size <= 0 || size != len(body) || at > math.MaxInt64 {
		return record.State{}, fmt.Errorf("%w: bad expiry", ErrDelta)
	}
	if !st.Live() {
		return record.State{}, fmt.Errorf("%w: an expiry for a deleted key", ErrDelta)
	}
	st.ExpireAt = int64(at)
	return st, nil
}

// What a delta says of an element of a collection that is set or removed begins with the length of its name, twice, and one more if it is removed, and the name.

// appendNamed appends that beginning.
func appendNamed(dst, name []byte, remove bool) []byte {
	head := uint64(len(name)) << 1
	if remove {
		head |= 1
	}
	return buffer.Append(binary.AppendUvarint(dst, head), name)
}

// namedSize is how many bytes appendNamed appends.
func namedSize(name []byte) int { return parts.UvarintSize(len(name)<<1|1) + len(name) }

// named reads what appendNamed appended, up to end. The name is borrowed.
func named(body []byte) (name []byte, remove bool, end int, ok bool) {
	head, size := binary.Uvarint(body)
	if size <= 0 || head>>1 > uint64(len(body)-size) {
		return nil, false, 0, false
	}
	end = size + int(head>>1)
	return body[size:end], head&1 != 0, end, true
}
