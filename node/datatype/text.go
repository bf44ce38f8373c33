package datatype

import (
	"fmt"
	"strconv"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/node/datatype/parts"
)

// text is a string to look at: bytes, or in parts. Nobody can tell which by what commands answer. A string that is set is bytes, however long;
// one that is changed is in parts, if it is long then, and from then on. So one version may be bytes on one replica, which was
// sent it as a whole, and in parts on another one.
type text struct {
	bytes []byte
	rope  *parts.Rope // nil: bytes
}

// longText is the length in bytes above which a string that is changed is in parts.
const longText = 16 << 10

// textVerbs are the verbs of strings. Any bytes are one, and stay bytes until they are changed.
var textVerbs = verbs{
	valid: func([]byte) bool { return true },
	build: func(size int) record.Builder { return textBuilder{parts.NewRopeBuilder(size)} },
	assemble: func(root record.Place, from record.Source) (record.Object, error) {
		return parts.AssembleRope(root, from)
	},
	longest: longest,
	delta:   deltaSplice, apply: applySplice,
}

// textBuilder builds a string that is in parts. Any string may be: see text.
type textBuilder struct{ *parts.RopeBuilder }

// State implements record.Builder.
func (b textBuilder) State() (record.State, error) {
	r, err := b.Rope()
	if err != nil {
		return record.State{}, fmt.Errorf("%w: %w", ErrBuild, err)
	}
	return record.State{Type: record.String, Object: r}, nil
}

// textIn returns the string that a state has, or an empty one.
func textIn(st record.State) text {
	r, _ := st.Object.(*parts.Rope)
	return text{st.Value, r}
}

// state returns the state of a key with the string.
func (t text) state(expireAt int64) record.State {
	if t.rope != nil {
		return record.State{Type: record.String, ExpireAt: expireAt, Object: t.rope}
	}
	return record.State{Type: record.String, ExpireAt: expireAt, Value: t.bytes}
}

// size returns the length in bytes.
func (t text) size() int {
	if t.rope != nil {
		return t.rope.Size()
	}
	return len(t.bytes)
}

// slice returns the bytes of [from, to), all of which there are. They are not to be changed.
func (t text) slice(from, to int) []byte {
	if t.rope != nil {
		return t.rope.AppendRange(nil, from, to)
	}
	return t.bytes[from:to]
}

// appendBulk appends the bytes of [from, to), all of which there are, as a bulk string.
func (t text) appendBulk(dst []byte, from, to int) []byte {
	if t.rope == nil {
		return resp.AppendBulk(dst, t.bytes[from:to])
	}
	dst = append(strconv.AppendInt(append(dst, '$'), int64(to-from), 10), "\r\n"...)
	return append(t.rope.AppendRange(dst, from, to), "\r\n"...)
}

// number returns the bytes of a string that may be a number: the first ones are enough of what is too long for one.
func (t text) number() []byte {
	if t.rope != nil {
		return t.rope.AppendRange(nil, 0, maxFloatText+1)
	}
	return t.bytes
}

// draft is a string that is being changed: as text, but that the bytes are its own.
type draft struct {
	text
	least int // how many bytes it is to have at least
}

// draft returns a draft of the string with at least n bytes: what is new is zero.
func (t text) draft(n int) draft {
	n = max(n, t.size())
	switch {
	case t.rope != nil:
	case n > longText:
		t = text{rope: parts.NewRope(t.bytes)}
	default:
		t = text{bytes: resized(t.bytes, n)}
	}
	return draft{t, n}
}

// write puts data at a place, which is within what the draft is to have.
func (d *draft) write(at int, data []byte) {
	if d.rope != nil {
		d.rope = d.rope.With(d.least, at, data)
		return
	}
	buffer.Copy(d.bytes[at:], data)
}

// done returns the string that the draft has become.
func (d *draft) done() text {
	if d.rope != nil && d.rope.Size() < d.least {
		d.write(d.least, nil)
	}
	return d.text
}
