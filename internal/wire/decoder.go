package wire

import (
	"encoding/binary"
	"fmt"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/record"
)

// Decoder takes a body apart, field by field, in the order in which it was
// appended. The first field that is not there makes it fail for good: from then on
// every method returns zero, so that a caller may look at Err or Done once, at the
// end. Nothing it is given makes it panic.
type Decoder struct {
	rest []byte
	err  error
	// Ahead returns the value that was sent ahead under a number, and its type: none if it has not come whole. Ahead is nil where no
	// state may be without its value: one that is fails.
	Ahead   func(id uint64) record.State
	missing bool
}

// NewDecoder returns a decoder of body, which it borrows.
func NewDecoder(body []byte) Decoder { return Decoder{rest: body} }

// Err returns what went wrong so far; it wraps ErrMalformed.
func (d *Decoder) Err() error { return d.err }

// Done returns an error unless everything went well and nothing is left over.
func (d *Decoder) Done() error {
	if d.err == nil && len(d.rest) > 0 {
		d.err = fmt.Errorf("%w: %d bytes too many", ErrMalformed, len(d.rest))
	}
	return d.err
}

// More reports whether there is something left to decode.
func (d *Decoder) More() bool { return len(d.rest) > 0 }

// Fail makes the decoder fail, for a caller who finds a value impossible.
func (d *Decoder) Fail(reason string) {
	if d.err == nil {
		d.err = fmt.Errorf("%w: %s", ErrMalformed, reason)
	}
	d.rest = nil
}

// take returns the next n bytes, or nil if there are fewer.
func (d *Decoder) take(n uint64) []byte {
	if n > uint64(len(d.rest)) {
		d.Fail("it ends too early")
		return nil
	}
	field := d.rest[:n:n]
	d.rest = d.rest[n:]
	return field
}

// Byte decodes one byte.
func (d *Decoder) Byte() byte {
	if len(d.rest) == 0 {
		d.Fail("it ends too early")
		return 0
	}
	b := d.rest[0]
	d.rest = d.rest[1:]
	return b
}

// Bool decodes what AppendBool appended.
func (d *Decoder) Bool() bool {
	b := d.Byte()
	if b > 1 {
		d.Fail("a truth value is neither 0 nor 1")
	}
	return b == 1
}

// Uint16 decodes what AppendUint16 appended.
func (d *Decoder) Uint16() uint16 {
	if b := d.take(2); b != nil {
		return binary.LittleEndian.Uint16(b)
	}
	return 0
}

// Uint64 decodes what AppendUint64 appended.
func (d *Decoder) Uint64() uint64 {
	if b := d.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

// Uvarint decodes what AppendUvarint appended.
func (d *Decoder) Uvarint() uint64 {
	n, size := binary.Uvarint(d.rest)
	if size <= 0 {
		d.Fail("a number is cut off or too large")
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

// Varint decodes what AppendVarint appended.
func (d *Decoder) Varint() int64 {
	n, size := binary.Varint(d.rest)
	if size <= 0 {
		d.Fail("a number is cut off or too large")
		return 0
	}
	d.rest = d.rest[size:]
	return n
}

// Count decodes a number of elements, appended with AppendUvarint, each of which
// takes at least size bytes (size > 0). A count that the rest cannot hold is an
// error: memory may be reserved for what Count returns.
func (d *Decoder) Count(size int) int {
	n := d.Uvarint()
	if n > uint64(len(d.rest)/size) {
		d.Fail("it has fewer elements than it says")
		return 0
	}
	return int(n)
}

// Bytes decodes what AppendBytes appended: a view into the body, not a copy.
func (d *Decoder) Bytes() []byte { return d.take(d.Uvarint()) }

// Rest returns everything that is left, a view into the body.
func (d *Decoder) Rest() []byte { return d.take(uint64(len(d.rest))) }

// Form decodes what AppendForm appended.
func (d *Decoder) Form() (t record.Type, plain bool) {
	b := d.Byte()
	return record.Type(b &^ plainBit), b&plainBit != 0
}

// Ballot decodes what AppendBallot appended.
func (d *Decoder) Ballot() record.Ballot {
	counter, incarnation := d.Uvarint(), d.Uint64()
	if d.err != nil {
		return record.Ballot{}
	}
	return record.Ballot{Counter: counter, Incarnation: incarnation}
}

// Version decodes what AppendVersion appended.
func (d *Decoder) Version() record.Version {
	ballot, seq := d.Ballot(), d.Uvarint()
	if d.err != nil {
		return record.Version{}
	}
	return record.Version{Ballot: ballot, Seq: seq}
}

// State decodes what AppendState appended. Its Value is a view into the body:
// whoever keeps the state copies it. An unknown type is passed on, not judged.
//
// One whose value was sent ahead has that (see Ahead). If it is missing, Missing is true from then on, and the state is none: whatever
// refers to it is to be taken as lost.
func (d *Decoder) State() record.State {
	if len(d.rest) > 0 && d.rest[0] == stateAhead {
		return d.stateAhead()
	}
	kind := d.Byte()
	expireAt, value := d.Varint(), d.Bytes()
	if d.err != nil {
		return record.State{}
	}
	return record.State{Type: record.Type(kind), ExpireAt: expireAt, Value: value}
}

// SharedState is State, but a Value of more than record.CopiedValue bytes is not borrowed.
func (d *Decoder) SharedState() record.State {
	ahead := len(d.rest) > 0 && d.rest[0] == stateAhead
	s := d.State()
	if len(s.Value) > record.CopiedValue && !ahead {
		s.Value = buffer.Clone(s.Value)
	}
	return s
}

func (d *Decoder) stateAhead() record.State {
	_, kind, expireAt, id := d.Byte(), d.Byte(), d.Varint(), d.Uvarint()
	if d.Ahead == nil {
		d.Fail("a state without its value")
	}
	if d.err != nil {
		return record.State{}
	}
	state := d.Ahead(id)
	if state.Size() == 0 || state.Type != record.Type(kind) {
		d.missing = true
		return record.State{}
	}
	state.ExpireAt = expireAt
	return state
}

// Missing reports whether a state since the last call lacks a value that was to come ahead.
func (d *Decoder) Missing() bool {
	missing := d.missing
	d.missing = false
	return missing
}
