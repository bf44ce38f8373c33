package record_test

import (
	"bytes"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
)

// TestPatch: a patch overwrites its bytes and nothing else, wherever they are.
func TestPatch(t *testing.T) {
	for _, size := range []int{1, 5, 200, record.CopiedValue} {
		old := record.State{Type: record.String, ExpireAt: 7, Value: bytes.Repeat([]byte("v"), size)}
		for _, at := range []int{0, 1, size / 2, size - 1, size} {
			for _, n := range []int{0, 1, size - at} {
				if at+n > size {
					continue
				}
				delta := record.Patch{At: at, Bytes: bytes.Repeat([]byte("p"), n)}.Append([]byte("before"))[len("before"):]
				p, ok := record.PatchOf(old, delta)
				require.True(t, ok)
				next := p.Of(old, nil)
				want := old
				want.Value = append(append(bytes.Repeat([]byte("v"), at), bytes.Repeat([]byte("p"), n)...), bytes.Repeat([]byte("v"), size-at-n)...)
				require.Equal(t, want, next)
				require.Equal(t, bytes.Repeat([]byte("v"), size), old.Value, "the old value was changed")
			}
		}
	}
}

// TestWhatAPatchIsNotOf: a patch changes no length, and nothing that is shared.
func TestWhatAPatchIsNotOf(t *testing.T) {
	patch := record.Patch{At: 3, Bytes: []byte("pp")}.Append(nil)
	short := record.State{Type: record.String, Value: []byte("value")}
	for name, c := range map[string]struct {
		st    record.State
		delta []byte
	}{
		"nothing":        {short, nil},
		"another delta":  {short, []byte{record.PatchTag + 1, 3, 'p', 'p'}},
		"no place":       {short, patch[:1]},
		"a broken place": {short, []byte{record.PatchTag, 0xff}},
		"a far place":    {short, append([]byte{record.PatchTag}, "\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01"...)},
		"one byte more":  {record.State{Type: record.String, Value: []byte("valu")}, patch},
		"a deletion":     {record.State{}, patch},
		"a shared value": {record.State{Type: record.String, Value: make([]byte, record.CopiedValue+1)}, patch},
	} {
		_, ok := record.PatchOf(c.st, c.delta)
		require.False(t, ok, name)
	}
}
