package parts

import (
	"bytes"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestSearchKey compares it with a search in a slice.
func TestSearchKey(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		keys := rapid.SliceOfNDistinct(rapid.SliceOfN(rapid.Byte(), 0, 6), 0, 600, func(b []byte) string { return string(b) }).Draw(t, "keys")
		slices.SortFunc(keys, bytes.Compare)
		value := rapid.SliceOfN(rapid.Byte(), 0, 200).Draw(t, "value")
		var elements [][]byte
		for _, key := range keys {
			elements = append(elements, append(AppendLengthened(nil, key), value...))
		}
		s := new(Sequence).Splice(0, 0, elements...)
		for range 20 {
			key := rapid.SliceOfN(rapid.Byte(), 0, 6).Draw(t, "key")
			if len(keys) > 0 && rapid.Bool().Draw(t, "is there") {
				key = rapid.SampledFrom(keys).Draw(t, "key that is there")
			}
			want, _ := slices.BinarySearchFunc(keys, key, bytes.Compare)
			rank, element := s.SearchKey(key)
			require.Equal(t, want, rank)
			if rank == len(keys) {
				require.Nil(t, element)
			} else {
				require.Equal(t, elements[rank], element)
			}
		}
	})
}
