package parts

import (
	"bytes"
	"fmt"
	"io"
	"math/rand/v2"
	"runtime"
	"slices"
	"sort"
	"testing"
	"testing/iotest"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// soundSequence checks what holds for every node of a sequence, and returns how high the node is.
func soundSequence(t require.TestingT, n *node, root bool) (height int) {
	n = n.here()
	if n.kids == nil {
		require.Equal(t, len(n.packed), n.size)
		require.Len(t, elements(n.packed), n.count)
		require.NotZero(t, n.count)
		require.True(t, n.count == 1 || n.size <= partSize, "%d elements in %d bytes", n.count, n.size)
		return 0
	}
	require.LessOrEqual(t, len(n.kids), most(n.kids))
	require.False(t, root && len(n.kids) == 1)
	count, size := 0, 0
	for i, k := range n.kids {
		require.Equal(t, k.node.count, int(k.low))
		h := soundSequence(t, k.node, false)
		require.True(t, i == 0 || h == height, "parts are at different depths")
		height, count, size = h, count+k.node.count, size+k.node.size
	}
	require.Equal(t, count, n.count)
	require.Equal(t, size, n.size)
	return height + 1
}

// requireSequence checks that a sequence is sound and has these elements.
func requireSequence(t require.TestingT, want []string, s *Sequence) {
	require.Equal(t, len(want), s.Len())
	got := []string{}
	for element := range s.From(0) {
		got = append(got, string(element))
	}
	require.True(t, slices.Equal(want, got), "the elements are others")
	if s.root != nil {
		soundSequence(t, s.root, true)
	}
	require.Equal(t, len(want) == 0, s.Root() == nil)
}

// requireElements looks at some elements of a sequence, and leaves it as it is.
func requireElements(t require.TestingT, want []string, s *Sequence) {
	require.Equal(t, len(want), s.Len())
	for i := 0; i < len(want); i += 1 + len(want)/10 {
		require.Equal(t, want[i], string(s.At(i)))
	}
}

// words returns n elements that say where they come from.
func words(name string, n, longest int) (all [][]byte) {
	for i := range n {
		element := fmt.Append(nil, name, "-", i)
		if longest > 0 {
			element = append(element, make([]byte, rand.IntN(longest))...)
			longest /= 1 + rand.IntN(2) // a few of many elements are long
		}
		all = append(all, element)
	}
	return all
}

func texts(elements [][]byte) (all []string) {
	for _, e := range elements {
		all = append(all, string(e))
	}
	return all
}

// TestSequenceIsASlice compares a sequence with a slice, and looks at the sequences before it again: they never change.
func TestSequenceIsASlice(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type version struct {
			s     *Sequence
			model []string
		}
		versions := []version{{new(Sequence), nil}}
		longest := rapid.SampledFrom([]int{0, 30, 3000}).Draw(t, "longest")
		ranks := func(n int) (from, to int) {
			a, b := rapid.IntRange(0, n).Draw(t, "rank"), rapid.IntRange(0, n).Draw(t, "rank")
			return min(a, b), max(a, b)
		}
		for i := range rapid.IntRange(1, 40).Draw(t, "changes") {
			v := versions[len(versions)-1-rapid.IntRange(0, min(1, i)).Draw(t, "before")]
			n := len(v.model)
			with := words(fmt.Sprint(i), rapid.SampledFrom([]int{0, 1, 1, 1, 7, 200, 1500}).Draw(t, "elements"), longest)
			from, to := ranks(n)
			switch rapid.IntRange(0, 5).Draw(t, "kind") {
			case 0: // push
				from, to = 0, 0
			case 1:
				from, to = n, n
			case 2: // insert
				to = from
			case 3: // replace some
				to = min(n, from+len(with))
			case 4: // trim
				if from > n/2 {
					to = n
				} else {
					from = 0
				}
				with = nil
			}
			model := slices.Concat(v.model[:from], texts(with), v.model[to:])
			edit := v.s.Edit()
			edit.Splice(from, to, with...)
			for _, element := range with { // they were only borrowed
				clear(element)
			}
			for j := range rapid.IntRange(0, 3).Draw(t, "more splices") {
				if rapid.IntRange(0, 4).Draw(t, "look") == 0 { // somebody who has the version before, in the middle of it
					requireSequence(t, v.model, v.s)
				}
				from, to = ranks(len(model))
				if to-from > 1 {
					to = from + 1
				}
				more := words(fmt.Sprint(i, "-", j), rapid.IntRange(0, 2).Draw(t, "more elements"), longest)
				edit.Splice(from, to, more...)
				model = slices.Concat(model[:from], texts(more), model[to:])
				requireElements(t, model, edit.Sequence())
			}
			next := edit.Sequence()
			versions = append(versions, version{next, model})
		}
		for _, v := range versions {
			requireSequence(t, v.model, v.s)
			for i := 0; i < len(v.model); i += 1 + len(v.model)/20 {
				require.Equal(t, v.model[i], string(v.s.At(i)))
				requireNear(t, v.model, v.s, i)
			}
		}
	})
}

// requireNear checks the elements around a rank.
func requireNear(t require.TestingT, want []string, s *Sequence, rank int) {
	const far = 100
	at := rank
	for element := range s.From(rank) {
		require.True(t, want[at] == string(element))
		if at++; at == rank+far {
			break
		}
	}
	require.Equal(t, min(len(want), rank+far), at)
	at = rank
	for element := range s.Back(rank) {
		require.True(t, want[at] == string(element))
		if at--; at == rank-far {
			break
		}
	}
	require.Equal(t, max(-1, rank-far), at)
}

// TestSearchIsSortSearch: whatever elements are in order, those that are there several times, too.
func TestSearchIsSortSearch(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, model := new(Sequence), []string{}
		for range rapid.IntRange(0, 20).Draw(t, "times") {
			for range rapid.SampledFrom([]int{1, 30, 500}).Draw(t, "elements") {
				element := fmt.Sprintf("%04d", rand.IntN(3000))
				want := sort.SearchStrings(model, element)
				require.Equal(t, want, s.Search(func(e []byte) bool { return string(e) < element }))
				s, model = s.Splice(want, want, []byte(element)), slices.Insert(model, want, element)
			}
		}
		requireSequence(t, model, s)
		require.Equal(t, len(model), s.Search(func([]byte) bool { return true }))
		require.Zero(t, s.Search(func([]byte) bool { return false }))
	})
}

// counting returns a sequence of n elements.
func counting(n int) *Sequence { return new(Sequence).Splice(0, 0, words("element", n, 0)...) }

// TestAnEmptyRange is nothing to look at, and nothing to change.
func TestAnEmptyRange(t *testing.T) {
	for _, s := range []*Sequence{new(Sequence), counting(1), counting(3000)} {
		require.Same(t, s, s.Splice(0, 0))
		require.Same(t, s, s.Splice(s.Len(), s.Len()))
		for range s.From(s.Len()) {
			require.Fail(t, "there is nothing behind the last element")
		}
		for range s.Back(-1) {
			require.Fail(t, "there is nothing before the first element")
		}
		requireSequence(t, nil, s.Splice(0, s.Len()))
	}
}

// TestSequencePackedForm has the elements in their order, whatever way the sequence came to be.
func TestSequencePackedForm(t *testing.T) {
	for _, n := range []int{0, 1, 2, 100, 5000} {
		s := counting(n)
		packed := s.AppendTo(nil)
		require.Len(t, packed, s.Size())
		require.NoError(t, iotest.TestReader(s.Reader(), packed))
		other := new(Sequence)
		for _, i := range rand.Perm(n) {
			at := other.Search(func(e []byte) bool {
				var number int
				_, _ = fmt.Sscanf(string(e), "element-%d", &number)
				return number < i
			})
			other = other.Splice(at, at, fmt.Append(nil, "element-", i))
		}
		read, err := io.ReadAll(other.Reader())
		require.NoError(t, err)
		require.Equal(t, packed, read)
	}
}

// TestASequenceIsFullAtItsEnds: what is pushed, at whichever end, takes hardly more memory than it has bytes; and a queue does not spread out.
func TestASequenceIsFullAtItsEnds(t *testing.T) {
	leaves := func(s *Sequence) (n int) {
		s.root.leaves(func([]byte) bool { n++; return true })
		return n
	}
	element := bytes.Repeat([]byte("x"), 40)
	for name, push := range map[string]func(s *Sequence) *Sequence{
		"left":  func(s *Sequence) *Sequence { return s.Splice(0, 0, element) },
		"right": func(s *Sequence) *Sequence { return s.Splice(s.Len(), s.Len(), element) },
	} {
		s := new(Sequence)
		for range 10_000 {
			s = push(s)
		}
		require.Less(t, leaves(s)*partSize, s.Size()*107/100, name)
		require.Len(t, s.root.kids, 2, name) // 400 KiB are 401 parts, 51 pages, 2 nodes above them
		require.LessOrEqual(t, soundSequence(t, s.root, true), 3, name)
		for range 20_000 { // a queue
			if name == "left" {
				s = push(s).Splice(10_000, 10_001)
			} else {
				s = push(s).Splice(0, 1)
			}
		}
		require.Less(t, leaves(s)*partSize, s.Size()*107/100, name)
		require.LessOrEqual(t, soundSequence(t, s.root, true), 4, name)
	}
}

// TestARangeCostsItsEnds: what is between is not looked at, and all else is shared.
func TestARangeCostsItsEnds(t *testing.T) {
	s := counting(100_000)
	for name, change := range map[string]func(){
		"push":       func() { s.Splice(0, 0, []byte("another")) },
		"pop":        func() { s.Splice(99_999, 100_000) },
		"replace":    func() { s.Splice(50_000, 50_001, []byte("another")) },
		"trim":       func() { s.Splice(20_000, 100_000) },
		"cut out":    func() { s.Splice(10_000, 90_000) },
		"keep a bit": func() { s.Splice(10, 100_000) },
	} {
		const times = 100
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for range times {
			change()
		}
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(times*8000), name)
	}
}

// TestALargeSequenceIsChangedInPlace: a change of the latest version copies no way to it, and the versions before are what they were.
func TestALargeSequenceIsChangedInPlace(t *testing.T) {
	const elements, times = 100_000, 1000
	element := bytes.Repeat([]byte("x"), 40)
	for name, tc := range map[string]struct {
		changes uint64 // that one call makes
		change  func(s *Sequence) *Sequence
	}{
		"push and pop at an end": {100, func(s *Sequence) *Sequence { // of which many are in one part
			const many = 50
			for range many {
				s = s.Splice(0, 0, element)
			}
			for range many {
				s = s.Splice(0, 1)
			}
			return s
		}},
		"queue":   {2, func(s *Sequence) *Sequence { return s.Splice(elements, elements, element).Splice(0, 1) }},
		"replace": {1, func(s *Sequence) *Sequence { at := rand.IntN(100); return s.Splice(at, at+1, element) }},
		"move": {2, func(s *Sequence) *Sequence {
			from, to := rand.IntN(100), rand.IntN(100)
			return s.Splice(from, from+1).Splice(to, to, element)
		}},
	} {
		s := counting(elements)
		want := s.AppendTo(nil)
		first, mid := s, s
		s = tc.change(tc.change(s))
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		for i := range times {
			if i == times/2 {
				mid = s
			}
			s = tc.change(s)
		}
		runtime.ReadMemStats(&after)
		if each := (after.TotalAlloc - before.TotalAlloc) / (times * tc.changes); !spoils {
			require.Less(t, each, uint64(1000), name)
		}
		require.Equal(t, elements, s.Len(), name)
		require.Equal(t, elements, mid.Len(), name)
		soundSequence(t, mid.frozenRoot(), true)
		require.Equal(t, want, first.AppendTo(nil), name)
	}
}

func BenchmarkSequence(b *testing.B) {
	element := bytes.Repeat([]byte("x"), 64)
	for _, n := range []int{1000, 100_000, 1_000_000} {
		full := new(Sequence)
		for range n {
			full = full.Splice(full.Len(), full.Len(), element)
		}
		for name, change := range map[string]func(s *Sequence) *Sequence{
			"Queue":   func(s *Sequence) *Sequence { return s.Splice(n, n, element).Splice(0, 1) },
			"Replace": func(s *Sequence) *Sequence { at := rand.IntN(n); return s.Splice(at, at+1, element) },
			"Insert":  func(s *Sequence) *Sequence { at := rand.IntN(n); return s.Splice(at, at, element) },
			"At":      func(s *Sequence) *Sequence { s.At(rand.IntN(n)); return s },
			"Search": func(s *Sequence) *Sequence {
				s.Search(func([]byte) bool { return rand.Uint32()&1 == 0 })
				return s
			},
		} {
			b.Run(fmt.Sprint(name, "/", n), func(b *testing.B) {
				s := full
				b.ReportAllocs()
				for b.Loop() {
					s = change(s)
				}
			})
		}
	}
}
