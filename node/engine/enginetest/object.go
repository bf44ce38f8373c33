package enginetest

import (
	"bytes"
	"io"
	"slices"

	"github.com/quolldb/quoll/internal/record"
)

// Apply is what a delta means in the suite: bytes that are appended. Engines that apply deltas themselves are opened with it.
func Apply(st record.State, delta []byte) (record.State, error) {
	if st.Object != nil {
		st.Object = slices.Concat(st.Object.(object), delta)
		return st, nil
	}
	st.Value = slices.Concat(st.Value, delta)
	return st, nil
}

// Live makes an object of a long value that is no string. Engines that read values from elsewhere are opened with it.
func Live(st record.State) (record.State, bool) {
	if st.Type != objects || len(st.Value) <= record.CopiedValue {
		return st, false
	}
	return record.State{Type: st.Type, ExpireAt: st.ExpireAt, Object: object(slices.Clone(st.Value))}, true
}

// objects is the type of the suite's records whose long values are objects.
const objects = record.Hash

// object is a value that is not the bytes that it is stored as.
type object []byte

func (o object) Size() int                  { return len(o) }
func (o object) AppendTo(dst []byte) []byte { return append(dst, o...) }
func (o object) Memory() int                { return 2 * len(o) }
func (o object) Reader() io.Reader          { return bytes.NewReader(o) }
