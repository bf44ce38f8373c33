package arena

import (
	"bytes"
	"slices"
	"sync"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestSizes(t *testing.T) {
	require.Len(t, sizes, classes)
	require.True(t, slices.IsSorted(sizes))
	require.EqualValues(t, largest, sizes[classes-1])
	for n := 1; n <= largest; n++ {
		size := sizes[classFor[(n+grain-1)/grain]]
		require.GreaterOrEqual(t, size, uint32(n))
		require.LessOrEqual(t, size, uint32(n+n/2+64))
	}
}

// TestPiecesDoNotOverlap takes pieces and gives them back, in any order, and keeps in each what belongs there.
func TestPiecesDoNotOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := New()
		var pieces [][]byte
		mark := byte(0)
		sum := func() (total int64) {
			for _, p := range pieces {
				total += int64(cap(p))
			}
			return total
		}
		give := func(i int) {
			p := pieces[i]
			require.Equal(t, len(p), bytes.Count(p, p[:1]), "nobody else has written to it")
			pieces = slices.Delete(pieces, i, i+1)
			a.Put(p)
		}
		t.Repeat(map[string]func(*rapid.T){
			"take": func(t *rapid.T) {
				n := rapid.OneOf(rapid.IntRange(1, 300), rapid.IntRange(1, largest+1000)).Draw(t, "n")
				for range rapid.IntRange(1, 100).Draw(t, "count") {
					p := a.Get(n)
					require.Zero(t, len(p))
					require.GreaterOrEqual(t, cap(p), n)
					if n >= 64 && n <= largest {
						require.Zero(t, uintptr(unsafe.Pointer(unsafe.SliceData(p)))%64, "it begins with a line of cache")
					}
					mark++
					p = p[:cap(p)]
					for i := range p {
						p[i] = mark
					}
					pieces = append(pieces, p)
				}
			},
			"give": func(t *rapid.T) {
				for range min(len(pieces), rapid.IntRange(1, 100).Draw(t, "count")) {
					give(rapid.IntRange(0, len(pieces)-1).Draw(t, "which"))
				}
			},
			"lend": func(*rapid.T) { a.Lend(100); a.Lend(-100) },
			"":     func(t *rapid.T) { require.Equal(t, sum(), a.Used()) },
		})
		for len(pieces) > 0 {
			give(len(pieces) - 1)
		}
		require.Zero(t, a.Used())
		require.LessOrEqual(t, a.bare, 1, "chunks that nobody needs")
		a.Release()
	})
}

// TestWhatIsGivenBackIsTheSystems again, but for a little.
func TestWhatIsGivenBackIsTheSystems(t *testing.T) {
	a := New()
	before := pool.size()
	const size, count = 1000, 100_000
	var pieces [][]byte
	for range count {
		pieces = append(pieces, a.Get(size))
	}
	require.GreaterOrEqual(t, pool.size()-before, int64(size*count-dirtyMost*chunkSize))
	require.LessOrEqual(t, pool.size()-before, int64(size*count*11/10+dirtyMost*chunkSize))
	for _, p := range pieces {
		a.Put(p)
	}
	// The arena may have two still: one with its last span of this size, and a bare one.
	require.LessOrEqual(t, pool.size(), before+(dirtyMost+2)*chunkSize)
	require.Zero(t, a.Used())
	a.Get(size)
	a.Release()
	require.LessOrEqual(t, pool.size(), before+dirtyMost*chunkSize)
	require.Zero(t, a.Used())
}

func TestManyAtTheSameTime(t *testing.T) {
	a := New()
	var wait sync.WaitGroup
	for worker := range byte(4) {
		wait.Go(func() {
			var pieces [][]byte
			for i := range 20_000 {
				p := a.Get(1 + i*37%3000)
				p = append(p, worker)
				if pieces = append(pieces, p); i%3 == 0 {
					last := pieces[i/3%len(pieces)]
					if last[0] != worker {
						panic("somebody else has written to it")
					}
					pieces[i/3%len(pieces)] = pieces[len(pieces)-1]
					pieces = pieces[:len(pieces)-1]
					a.Put(last)
				}
			}
			for _, p := range pieces {
				a.Put(p)
			}
		})
	}
	wait.Wait()
	require.Zero(t, a.Used())
	a.Release()
}

// TestWithoutAnArena memory is Go's.
func TestWithoutAnArena(t *testing.T) {
	var a *Arena
	p := a.Get(100)
	require.Equal(t, 100, cap(p))
	a.Put(p)
	a.Lend(100)
	require.Zero(t, a.Used())
}
