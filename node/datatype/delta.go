package datatype

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/quolldb/quoll/internal/buffer"
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
	// deltaExpiry: the new expiry in Unix milliseconds, 0 for none.
	deltaExpiry = 2
	// deltaFields: fields of a hash that are set or removed; see edit.appendDelta.
	deltaFields = 3
)

// maxSpliceHeader bounds the bytes of a splice beside its data: a tag and three
// numbers below 2^35.
const maxSpliceHeader = 1 + 3*5

func encodeSplice(oldLen, newLen, offset int, data []byte) []byte {
	delta := make([]byte, 0, maxSpliceHeader+len(data))
	delta = append(delta, deltaSplice)
	delta = binary.AppendUvarint(delta, uint64(oldLen))
	delta = binary.AppendUvarint(delta, uint64(newLen-oldLen))
	delta = binary.AppendUvarint(delta, uint64(offset))
	return buffer.Append(delta, data)
}

func encodeExpiry(at int64) []byte {
	return binary.AppendUvarint([]byte{deltaExpiry}, uint64(at))
}

// Apply replays an effect's delta on another copy of the state that it was made
// from, and returns the new state. Neither st.Value nor delta is changed or kept,
// except that a delta that leaves the value alone returns st.Value itself. The
// result is never longer than MaxValueLen, whatever the delta says. Errors wrap
// ErrDelta.
func Apply(st record.State, delta []byte) (record.State, error) { return apply(st, delta, new(space)) }

func apply(st record.State, delta []byte, s *space) (record.State, error) {
	if len(delta) == 0 {
		return record.State{}, fmt.Errorf("%w: it is empty", ErrDelta)
	}
	switch tag, body := delta[0], delta[1:]; tag {
	case deltaSplice:
		return applySplice(st, body)
	case deltaExpiry:
		return applyExpiry(st, body)
	case deltaFields:
		return applyFields(st, body, s)
	default:
		return record.State{}, fmt.Errorf("%w: unknown tag %d", ErrDelta, tag)
	}
}

func applySplice(st record.State, body []byte) (record.State, error) {
	var header [3]uint64
	for i := range header {
		n, size := binary.Uvarint(body)
		if size <= 0 || n > MaxValueLen {
			return record.State{}, fmt.Errorf("%w: bad length in a splice", ErrDelta)
		}
		header[i], body = n, body[size:]
	}
	oldLen, newLen, offset := header[0], header[0]+header[1], header[2]
	old := textIn(st)
	if st.Type != record.String || uint64(old.size()) != oldLen {
		return record.State{}, fmt.Errorf("%w: a splice of a %d byte string meets a %s of %d bytes",
			ErrDelta, oldLen, st.Type, st.Size())
	}
	if newLen > MaxValueLen || offset+uint64(len(body)) > newLen {
		return record.State{}, fmt.Errorf("%w: %d bytes at %d in a string of %d", ErrDelta, len(body), offset, newLen)
	}
	d := old.draft(int(newLen))
	d.write(int(offset), body)
	return d.done().state(st.ExpireAt), nil
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

func applyFields(st record.State, body []byte, s *space) (record.State, error) {
	if st.Type != record.Hash {
		return record.State{}, fmt.Errorf("%w: fields for a %s", ErrDelta, st.Type)
	}
	var room [usual]fieldChange
	e, ok := decodeEdit(edit{list: room[:0]}, body)
	if !ok {
		return record.State{}, fmt.Errorf("%w: bad fields", ErrDelta)
	}
	next, _ := e.apply(hashIn(st), s)
	if next.count() == 0 || next.size() > MaxValueLen {
		return record.State{}, fmt.Errorf("%w: fields that leave a hash of %d bytes", ErrDelta, next.size())
	}
	return next.state(st.ExpireAt), nil
}
