package datatype

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype/parts"
)

// FuzzApplyElements compares changes of a list, packed and in parts, with the same changes of a slice.
func FuzzApplyElements(f *testing.F) {
	three := listOf("a", "b", "a").Value
	for _, delta := range []string{"\x03\x00\x00\x01\x01x", "\x03\x01\x02\x00", "\x03\x00\x01\x00\x01\x01\x01\x02xx", "\x03\x00\x03\x00", "", "\x02", "\x03\x04\x00\x00",
		"\x03\x00\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"} {
		f.Add(three, []byte(delta))
	}
	f.Fuzz(func(t *testing.T, value, body []byte) {
		if !listVerbs.valid(value) {
			value = three
		}
		before, delta := string(value), append([]byte{deltaElements}, body...)
		packed := record.State{Type: record.List, Value: value}
		next, err := Apply(packed, delta)
		require.Equal(t, before, string(value))
		sequence, _ := parts.UnpackSequence(value)
		inParts, partsErr := Apply(record.State{Type: record.List, Object: sequence}, delta)
		if err != nil {
			require.ErrorIs(t, err, ErrDelta)
			require.ErrorIs(t, partsErr, ErrDelta)
			require.Equal(t, record.State{}, next)
			return
		}
		require.NoError(t, partsErr)
		require.True(t, sameState(next, inParts))
		want := elementsOf(packed)
		c, _ := decodeCuts(nil, body, len(want))
		for _, cut := range slices.Backward(c) {
			want = slices.Replace(want, cut.from, cut.to, words(cut.with)...)
		}
		require.Equal(t, want, elementsOf(next))
	})
}
