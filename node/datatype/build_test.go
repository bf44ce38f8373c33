package datatype

import (
	"fmt"
	"io"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype/parts"
)

func largeHash(fields int) *parts.Map {
	m := new(parts.Map)
	for i := range fields {
		m, _ = m.Set(fmt.Append(nil, "field", i), []byte("value"))
	}
	return m
}

// TestABuiltObjectIsTheSame: it has the form that all replicas have, and is changed as theirs.
func TestABuiltObjectIsTheSame(t *testing.T) {
	m := largeHash(1000)
	b, err := NewBuilder(record.Hash, false, m.Size())
	require.NoError(t, err)
	_, err = io.Copy(b, m.Reader())
	require.NoError(t, err)
	built, err := b.State()
	require.NoError(t, err)
	require.Equal(t, m.AppendTo(nil), built.Object.AppendTo(nil))
	e := edit{list: []fieldChange{{field: []byte("field7"), value: []byte("new")}}}
	delta := e.appendDelta(nil)
	want, err := Apply(record.State{Type: record.Hash, Object: m}, delta)
	require.NoError(t, err)
	got, err := Apply(built, delta)
	require.NoError(t, err)
	require.Equal(t, want.Object.AppendTo(nil), got.Object.AppendTo(nil))
}

// TestWhatIsNoObjectIsNotBuilt: a form that no replica has is refused, and so is a type without objects.
func TestWhatIsNoObjectIsNotBuilt(t *testing.T) {
	_, err := NewBuilder(record.None, false, 10)
	require.ErrorIs(t, err, ErrBuild)
	small := largeHash(packedFields)
	b, err := NewBuilder(record.Hash, false, small.Size())
	require.NoError(t, err)
	_, err = io.Copy(b, small.Reader())
	require.NoError(t, err)
	_, err = b.State()
	require.ErrorIs(t, err, ErrBuild, "it is small enough to be packed")
	b, err = NewBuilder(record.Hash, false, 10)
	require.NoError(t, err)
	_, err = b.State()
	require.ErrorIs(t, err, ErrBuild)
}

// TestPlainBytesStayBytes: a string that is bytes is built as bytes, of as many as were announced. A large hash is never bytes.
func TestPlainBytesStayBytes(t *testing.T) {
	b, err := NewBuilder(record.String, true, 10)
	require.NoError(t, err)
	_, err = b.Write([]byte("01234"))
	require.NoError(t, err)
	_, err = b.State()
	require.ErrorIs(t, err, ErrBuild, "it is not whole")
	_, err = b.Write([]byte("567890"))
	require.ErrorIs(t, err, ErrBuild, "too many")
	_, err = b.Write([]byte("56789"))
	require.NoError(t, err)
	built, err := b.State()
	require.NoError(t, err)
	require.Equal(t, record.State{Type: record.String, Value: []byte("0123456789")}, built)

	_, err = NewBuilder(record.Hash, true, 10)
	require.ErrorIs(t, err, ErrBuild)
	_, err = NewBuilder(record.String, true, 1<<50)
	require.ErrorIs(t, err, ErrBuild)
}
