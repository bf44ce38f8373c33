package parts

import (
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// built makes a map of pieces of at most so many bytes.
func built(packed []byte, size, longest int) (*Map, error) {
	b := NewBuilder(size)
	for len(packed) > 0 {
		n := 1 + rand.IntN(min(longest, len(packed)))
		if _, err := b.Write(packed[:n]); err != nil {
			return nil, err
		}
		packed = packed[n:]
	}
	return b.Map()
}

// TestReaderAndBuilder: whatever is read of a map, in whatever pieces, makes the same map.
func TestReaderAndBuilder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := new(Map)
		longest := rapid.SampledFrom([]int{0, 30, 2000}).Draw(t, "longest")
		for i := range rapid.SampledFrom([]int{1, 3, 100, 700, 4000}).Draw(t, "items") {
			m, _ = m.Set(fmt.Append(nil, "field", i), make([]byte, rand.IntN(longest+1)))
		}
		packed, err := io.ReadAll(m.Reader())
		require.NoError(t, err)
		require.True(t, bytes.Equal(m.AppendTo(nil), packed))
		other, err := built(packed, len(packed), rapid.SampledFrom([]int{1, 700, 300_000}).Draw(t, "piece"))
		require.NoError(t, err)
		sound(t, other.root, 0, true)
		require.Equal(t, contents(t, m), contents(t, other))
		require.Equal(t, m.Len(), other.Len())
		require.Equal(t, len(packed), other.Size())
	})
}

func TestReaderIsAReader(t *testing.T) {
	for _, m := range []*Map{numbered(1), numbered(3000)} {
		require.NoError(t, iotest.TestReader(m.Reader(), m.AppendTo(nil)))
	}
}

// TestBuilderTakesNothingElse than a packed form: not a piece less, more, again or in another place.
func TestBuilderTakesNothingElse(t *testing.T) {
	packed := numbered(500).AppendTo(nil)
	_, head := binary.Uvarint(packed)
	_, _, first, _ := Next(packed, head)
	_, _, second, _ := Next(packed, first)
	item := func(from, to int) []byte { return packed[from:to] }
	count := func(n uint64) []byte { return binary.AppendUvarint(nil, n) }
	for name, bad := range map[string][]byte{
		"nothing":               {},
		"no items":              count(0),
		"an end that is cut":    packed[:len(packed)-1],
		"a byte more":           append(bytes.Clone(packed), 0),
		"an item more":          append(bytes.Clone(packed), 0, 0),
		"an item less":          append(bytes.Clone(packed[:head]), packed[first:]...),
		"an item twice":         append(append(count(501), item(head, first)...), packed[head:]...),
		"two items in turn":     append(append(append(count(500), item(first, second)...), item(head, first)...), packed[second:]...),
		"an endless number":     bytes.Repeat([]byte{0xff}, 11),
		"an endless length":     append(count(1), bytes.Repeat([]byte{0xff}, 11)...),
		"a length beyond it":    append(count(1), 0xff, 0xff, 0xff, 0x7f),
		"a value beyond it":     append(count(1), 1, 'k', 0xff, 0xff, 0xff, 0x7f),
		"a number that is high": append(count(1<<60), packed[head:]...),
	} {
		_, err := built(bad, len(bad), 1000)
		require.ErrorIs(t, err, ErrPacked, name)
	}
	for _, size := range []int{len(packed) - 1, len(packed) + 1} {
		_, err := built(packed, size, 1000)
		require.ErrorIs(t, err, ErrPacked, "announced as %d of %d bytes", size, len(packed))
	}
}

// TestBuilderWaitsForNothingImpossible: a length that cannot be right is an error with its first byte, and takes no memory.
func TestBuilderWaitsForNothingImpossible(t *testing.T) {
	b := NewBuilder(1 << 30)
	_, err := b.Write(binary.AppendUvarint([]byte{1}, 1<<30))
	require.ErrorIs(t, err, ErrPacked)
	_, err = b.Write(nil)
	require.ErrorIs(t, err, ErrPacked, "an error is final")
	_, err = b.Map()
	require.ErrorIs(t, err, ErrPacked)
}

// TestBuilderTakesItsMapAndAPiece of memory, however many pieces there are.
func TestBuilderTakesItsMapAndAPiece(t *testing.T) {
	m := numbered(50_000)
	const piece = 64 << 10
	r, b := m.Reader(), NewBuilder(m.Size())
	buf := make([]byte, piece)
	for {
		n, err := r.Read(buf)
		if errors.Is(err, io.EOF) {
			break
		}
		_, err = b.Write(buf[:n])
		require.NoError(t, err)
		require.LessOrEqual(t, cap(b.buf), 3*piece)
	}
	other, err := b.Map()
	require.NoError(t, err)
	require.Equal(t, m.Len(), other.Len())
}

func FuzzBuilder(f *testing.F) {
	f.Add(numbered(300).AppendTo(nil), 100)
	f.Add([]byte{1, 1, 'k', 1, 'v'}, 1)
	f.Fuzz(func(t *testing.T, packed []byte, longest int) {
		m, err := built(packed, len(packed), max(1, longest%1000))
		if err != nil {
			require.ErrorIs(t, err, ErrPacked)
			return
		}
		sound(t, m.root, 0, true)
		other, ok := Unpack(m.AppendTo(nil))
		require.True(t, ok)
		require.Equal(t, contents(t, m), contents(t, other))
	})
}

func BenchmarkBuilder(b *testing.B) {
	packed := numbered(1_000_000).AppendTo(nil)
	b.SetBytes(int64(len(packed)))
	for b.Loop() {
		builder := NewBuilder(len(packed))
		for rest := packed; len(rest) > 0; {
			n := min(256<<10, len(rest))
			_, _ = builder.Write(rest[:n])
			rest = rest[n:]
		}
		if _, err := builder.Map(); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkReader(b *testing.B) {
	m := numbered(1_000_000)
	b.SetBytes(int64(m.Size()))
	buf := make([]byte, 256<<10)
	for b.Loop() {
		for r := m.Reader(); ; {
			if _, err := r.Read(buf); err != nil {
				break
			}
		}
	}
}
