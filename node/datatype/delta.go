package datatype

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/quolldb/quoll/internal/record"
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
	// deltaFields: fields of a hash that are set or removed; see edit.appendDelta.
	deltaFields = 3
	// deltaPatch, of any type whose value is bytes: see record.Patch.
	deltaPatch = record.PatchTag
)

func encodeExpiry(at int64) []byte {
	return binary.AppendUvarint([]byte{deltaExpiry}, uint64(at))
}

// Apply replays an effect's delta on another copy of the state that it was made
// from, and returns the new state. Neither st.Value nor delta is changed or kept,
// except that a delta that leaves the value alone returns st.Value itself. The
// result is never longer than MaxValueLen, a hash than MaxHashLen, whatever the delta says. Errors wrap
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
