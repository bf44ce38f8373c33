package parts

import (
	"bytes"
	"io"
	"math/rand/v2"
	"runtime"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// soundRope checks what holds for every segment, and returns how many bytes it has.
func soundRope(t require.TestingT, s *segment, height int, last bool) int {
	if height == 0 {
		require.Nil(t, s.kids)
		require.Len(t, s.bytes, cap(s.bytes))
		if !last {
			require.Len(t, s.bytes, ropePart)
		}
		return len(s.bytes)
	}
	require.Nil(t, s.bytes)
	require.NotEmpty(t, s.kids)
	require.LessOrEqual(t, len(s.kids), ropeFanout)
	n := 0
	for i, k := range s.kids {
		n += soundRope(t, k, height-1, last && i == len(s.kids)-1)
	}
	return n
}

// requireRope compares a rope with the bytes that it should have.
func requireRope(t require.TestingT, want []byte, r *Rope) {
	require.Equal(t, len(want), r.Size())
	require.True(t, bytes.Equal(want, r.AppendTo(nil)))
	if r.root != nil {
		require.Equal(t, len(want), soundRope(t, r.root, r.height, true))
	}
}

// TestARopeIsASlice compares a rope with a slice, and looks at the ropes before it again: they never change.
func TestARopeIsASlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		some := func(most int) []byte {
			b := make([]byte, random.IntN(most+1))
			for i := range b {
				b[i] = byte(random.Uint32())
			}
			return b
		}
		model := some(rapid.SampledFrom([]int{0, 10, ropePart, 3 * ropePart, ropePart*ropeFanout + 10}).Draw(t, "length"))
		rope := NewRope(model)
		type version struct {
			rope  *Rope
			model []byte
		}
		former := []version{{rope, bytes.Clone(model)}}
		for range rapid.IntRange(1, 20).Draw(t, "changes") {
			at := random.IntN(len(model) + 1)
			switch rapid.IntRange(0, 3).Draw(t, "where") {
			case 0:
				at = len(model)
			case 1:
				at = len(model) + random.IntN(3*ropePart)
			}
			data, least := some(rapid.SampledFrom([]int{0, 1, 10, ropePart, 5 * ropePart}).Draw(t, "most")), 0
			if random.IntN(5) == 0 {
				least = at + len(data) + random.IntN(2*ropePart)
			}
			rope = rope.With(least, at, data)
			model = append(model, make([]byte, max(least, at+len(data), len(model))-len(model))...)
			copy(model[at:], data)
			former = append(former, version{rope, bytes.Clone(model)})
		}
		for _, v := range former {
			requireRope(t, v.model, v.rope)
		}
		from := random.IntN(len(model) + 1)
		to := from + random.IntN(len(model)-from+10)
		require.True(t, bytes.Equal(model[from:min(to, len(model))], rope.AppendRange(nil, from, to)))
		next := from
		for at, piece := range rope.Pieces(from, to) {
			require.Equal(t, next, at)
			require.NotEmpty(t, piece)
			next += len(piece)
		}
		require.Equal(t, min(to, len(model)), max(next, min(from, to)))
	})
}

// TestARopeNeverChanges, whatever is made of it.
func TestARopeNeverChanges(t *testing.T) {
	value := bytes.Repeat([]byte("v"), 3*ropePart)
	former := NewRope(value)
	for _, at := range []int{0, ropePart - 3, 2*ropePart + 7, 3 * ropePart, 5 * ropePart} {
		former.With(0, at, []byte("another"))
	}
	require.True(t, bytes.Equal(value, former.AppendTo(nil)), "a former rope has changed")
}

// TestARopeIsReadAndBuilt in pieces of any lengths.
func TestARopeIsReadAndBuilt(t *testing.T) {
	value := bytes.Repeat([]byte("0123456789abc"), 5*ropePart*ropeFanout/13)
	r := NewRope(value)
	require.NoError(t, iotest.TestReader(NewRope(value[:3*ropePart+5]).Reader(), value[:3*ropePart+5]))
	require.NoError(t, iotest.TestReader(new(Rope).Reader(), nil))
	b := NewRopeBuilder(len(value))
	n, err := io.CopyBuffer(struct{ io.Writer }{b}, r.Reader(), make([]byte, 777))
	require.NoError(t, err)
	require.EqualValues(t, len(value), n)
	built, err := b.Rope()
	require.NoError(t, err)
	requireRope(t, value, built)

	b = NewRopeBuilder(10)
	_, err = b.Write(make([]byte, 9))
	require.NoError(t, err)
	_, err = b.Rope()
	require.ErrorIs(t, err, ErrRope, "one is missing")
	b = NewRopeBuilder(10)
	_, err = b.Write(make([]byte, 11))
	require.ErrorIs(t, err, ErrRope)
	_, err = b.Rope()
	require.ErrorIs(t, err, ErrRope, "an error is final")
}

// TestAChangeOfARopeSharesTheRest: of 10 MiB a change copies next to nothing.
func TestAChangeOfARopeSharesTheRest(t *testing.T) {
	r, before, after := NewRope(make([]byte, 10<<20)), runtime.MemStats{}, runtime.MemStats{}
	const changes = 100
	runtime.ReadMemStats(&before)
	for i := range changes {
		r = r.With(0, (i*(1<<19+77))%(10<<20), []byte("0123456789"))
	}
	runtime.ReadMemStats(&after)
	require.Less(t, (after.TotalAlloc-before.TotalAlloc)/changes, uint64(8000))
}

func BenchmarkRope(b *testing.B) {
	r := NewRope(make([]byte, 10<<20))
	b.ReportAllocs()
	for b.Loop() {
		r = r.With(0, 5<<20, []byte("0123456789"))
	}
}
