package enginetest

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/quolldb/quoll/internal/record"
)

// Apply is what a delta means in the suite: a patch, or bytes that are appended. Engines that apply deltas themselves are opened with it.
func Apply(st record.State, delta []byte) (record.State, error) {
	if p, ok := record.PatchOf(st, delta); ok {
		return p.Of(st, nil), nil
	}
	if st.Object != nil {
		st.Object = st.Object.(*object).with(delta)
		return st, nil
	}
	st.Value = slices.Concat(st.Value, delta)
	return st, nil
}

// Live makes an object of a long value that is no string. Engines that read values from elsewhere are opened with it.
func Live(st record.State) (record.State, bool) {
	if !isObjects(st.Type) || len(st.Value) <= record.CopiedValue {
		return st, false
	}
	return record.State{Type: st.Type, ExpireAt: st.ExpireAt, Object: (&object{}).with(st.Value)}, true
}

// Assemble makes an object of its parts. Engines that keep objects in parts are opened with it.
func Assemble(t record.Type, root record.Place, from record.Source) (record.Object, error) {
	var below []record.Place
	err := from.Read(root, func(_ []byte, parts []record.Place) error {
		below = parts
		return nil
	})
	if err != nil {
		return nil, err
	}
	if !isObjects(t) {
		return nil, errors.New("enginetest: an object of this type has no parts")
	}
	o := &object{stored: root}
	for _, at := range below {
		err := from.Read(at, func(content []byte, _ []record.Place) error {
			o.chunks, o.size = append(o.chunks, &chunk{content, at}), o.size+len(content)
			return nil
		})
		if err != nil {
			return nil, err
		}
	}
	return o, nil
}

// objects are the types of the suite's records whose long values are objects.
var objects = []record.Type{record.Hash, record.List, record.Set, record.SortedSet, record.Stream}

func isObjects(t record.Type) bool { return slices.Contains(objects, t) }

// object is a value that is not the bytes that it is stored as: chunks of them, which are its parts below the root.
type object struct {
	chunks []*chunk
	size   int
	stored record.Place
}

type chunk struct {
	bytes  []byte
	stored record.Place
}

// chunkSize is how long a chunk becomes.
const chunkSize = 200

// with returns an object with more bytes.
func (o *object) with(more []byte) *object {
	next := &object{chunks: slices.Clone(o.chunks), size: o.size + len(more)}
	if n := len(next.chunks); n > 0 && len(next.chunks[n-1].bytes) < chunkSize {
		more, next.chunks = slices.Concat(next.chunks[n-1].bytes, more), next.chunks[:n-1]
	}
	for part := range slices.Chunk(slices.Clone(more), chunkSize) {
		next.chunks = append(next.chunks, &chunk{bytes: part})
	}
	return next
}

func (o *object) Size() int   { return o.size }
func (o *object) Memory() int { return 2 * o.size }

func (o *object) AppendTo(dst []byte) []byte {
	for _, c := range o.chunks {
		dst = append(dst, c.bytes...)
	}
	return dst
}

func (o *object) Reader() io.Reader { return bytes.NewReader(o.AppendTo(nil)) }

func (o *object) Root() record.Part            { return o }
func (o *object) Source() record.Source        { return nil }
func (o *object) Parts() int                   { return len(o.chunks) }
func (o *object) Part(i int) record.Part       { return o.chunks[i] }
func (o *object) AppendPart(dst []byte) []byte { return dst }
func (o *object) Stored() *record.Place        { return &o.stored }

func (*chunk) Parts() int                     { return 0 }
func (*chunk) Part(int) record.Part           { return nil }
func (c *chunk) AppendPart(dst []byte) []byte { return append(dst, c.bytes...) }
func (c *chunk) Stored() *record.Place        { return &c.stored }
