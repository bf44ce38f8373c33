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
	b, err := NewBuilder(record.Hash, m.Size())
	require.NoError(t, err)
	_, err = io.Copy(b, m.Reader())
	require.NoError(t, err)
	object, err := b.Object()
	require.NoError(t, err)
	require.Equal(t, m.AppendTo(nil), object.AppendTo(nil))
	e := edit{list: []fieldChange{{field: []byte("field7"), value: []byte("new")}}}
	delta := e.appendDelta(nil)
	want, err := Apply(record.State{Type: record.Hash, Object: m}, delta)
	require.NoError(t, err)
	got, err := Apply(record.State{Type: record.Hash, Object: object}, delta)
	require.NoError(t, err)
	require.Equal(t, want.Object.AppendTo(nil), got.Object.AppendTo(nil))
}

// TestWhatIsNoObjectIsNotBuilt: a form that no replica has is refused, and so is a type without objects.
func TestWhatIsNoObjectIsNotBuilt(t *testing.T) {
	_, err := NewBuilder(record.None, 10)
	require.ErrorIs(t, err, ErrBuild)
	small := largeHash(packedFields)
	b, err := NewBuilder(record.Hash, small.Size())
	require.NoError(t, err)
	_, err = io.Copy(b, small.Reader())
	require.NoError(t, err)
	_, err = b.Object()
	require.ErrorIs(t, err, ErrBuild, "it is small enough to be packed")
	b, err = NewBuilder(record.Hash, 10)
	require.NoError(t, err)
	_, err = b.Object()
	require.ErrorIs(t, err, ErrBuild)
}
