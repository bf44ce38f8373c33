package parts

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/record"
)

// lazySequence returns a shelf whose objects are read when they are needed, with a sequence of so many elements.
func lazySequence(t require.TestingT, elements int) (*shelf, *Sequence) {
	s, q := newShelf(), counting(elements)
	s.keep(q.Root())
	s.whole, s.reads = 1, 0
	lazy, err := AssembleSequence(*q.Root().Stored(), s)
	require.NoError(t, err)
	return s, lazy
}

// TestUnreadSequence: whatever is done to versions of sequences that are not in memory as a whole, each is what it should be, though the store has no more
// than what the newest one needs.
func TestUnreadSequence(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type version struct {
			s    *Sequence
			want []string
		}
		s, first := lazySequence(t, rapid.SampledFrom([]int{1, 300, 20_000}).Draw(t, "elements"))
		s.whole = rapid.SampledFrom([]int{1, 20_000}).Draw(t, "whole")
		versions := []version{{first, texts(words("element", first.Len(), 0))}}
		latest := func() version { return versions[len(versions)-1] }
		some := func(t *rapid.T) version { return versions[rapid.IntRange(0, len(versions)-1).Draw(t, "version")] }
		t.Repeat(map[string]func(*rapid.T){
			"splice": func(t *rapid.T) {
				v := latest()
				with := words(fmt.Sprint("new", len(versions)), rapid.SampledFrom([]int{0, 1, 300}).Draw(t, "elements"), 30)
				from := rapid.IntRange(0, len(v.want)).Draw(t, "from")
				to := min(len(v.want), from+rapid.SampledFrom([]int{0, 1, 500, 15_000}).Draw(t, "removed"))
				versions = append(versions, version{v.s.Splice(from, to, with...), slices.Concat(v.want[:from], texts(with), v.want[to:])})
			},
			"look": func(t *rapid.T) {
				if v := some(t); len(v.want) > 0 {
					rank := rapid.IntRange(0, len(v.want)-1).Draw(t, "rank")
					require.Equal(t, v.want[rank], string(v.s.At(rank)))
					requireNear(t, v.want, v.s, rank)
				}
			},
			"room": func(t *rapid.T) { s.room = rapid.IntRange(0, 200_000).Draw(t, "room") },
			"store": func(*rapid.T) {
				if v := latest(); len(v.want) > 0 {
					s.keep(v.s.Root())
					s.retain(*v.s.Root().Stored())
				}
			},
			"load": func(t *rapid.T) { // after which nobody has the versions before
				v := latest()
				if len(v.want) == 0 {
					return
				}
				s.keep(v.s.Root())
				require.Zero(t, s.keep(v.s.Root()), "what is stored is stored again")
				again, err := AssembleSequence(*v.s.Root().Stored(), s)
				require.NoError(t, err)
				require.Zero(t, s.keep(again.Root()), "what was read is stored again")
				versions = []version{{again, v.want}}
			},
			"read": func(t *rapid.T) {
				v := some(t)
				packed, err := io.ReadAll(v.s.Reader())
				require.NoError(t, err)
				require.Len(t, packed, v.s.Size())
			},
			"": func(t *rapid.T) {
				v := latest()
				require.Equal(t, len(v.want), v.s.Len())
				require.LessOrEqual(t, v.s.Memory(), v.s.Size()*3/2)
			},
		})
		for _, v := range versions {
			requireSequence(t, v.want, v.s)
		}
	})
}

// TestWhatIsReadOfASequence: the way to an element, once; a change needs no more, and little is stored again.
func TestWhatIsReadOfASequence(t *testing.T) {
	s, q := lazySequence(t, 100_000)
	require.Equal(t, 1, s.reads)
	reads := func(do func()) int {
		before := s.reads
		do()
		return s.reads - before
	}
	require.LessOrEqual(t, reads(func() { q.At(50_000) }), 3)
	require.Zero(t, reads(func() { q.At(50_000) }))
	require.LessOrEqual(t, reads(func() { q = q.Splice(0, 0, []byte("first")) }), 3)
	require.LessOrEqual(t, reads(func() { q = q.Splice(q.Len(), q.Len(), []byte("last")) }), 3)
	require.LessOrEqual(t, s.keep(q.Root()), 8)
	require.Less(t, q.Memory()+s.kept, q.Size()/10)
	require.Greater(t, reads(func() { _, _ = io.Copy(io.Discard, q.Reader()) }), 100)
	s.whole = q.Size() + 1
	q = q.Splice(0, 1)
	require.Zero(t, reads(func() { q.AppendTo(nil) }), "a sequence that is to be in memory as a whole is not")
}

// TestADamagedSequence is an error, whatever is wrong with it, and nothing has changed.
func TestADamagedSequence(t *testing.T) {
	s, q := lazySequence(t, 20_000)
	root := *q.Root().Stored()
	page := record.Place{Object: 1, Part: 1}
	content := s.content[page]
	for what, spoil := range map[string][]byte{
		"gone":             nil,
		"cut":              content[:len(content)/2],
		"another":          s.content[record.Place{Object: 1, Part: 2}],
		"what is above":    s.content[root],
		"another count":    append([]byte{content[0], content[1] + 1}, content[2:]...),
		"of a map's nodes": append([]byte{kindPage, 77}, content[2:]...),
	} {
		s.content[page] = spoil
		for _, use := range []func(){
			func() { q.At(0) },
			func() { q.Splice(0, 0, []byte("first")) },
			func() { q.Splice(0, 5000) },
			func() { q.AppendTo(nil) },
			func() {
				for range q.Back(q.Len()) {
				}
			},
			func() { q.Search(func([]byte) bool { return false }) },
		} {
			require.Error(t, caught(use), what)
		}
		_, err := io.ReadAll(q.Reader())
		require.Error(t, err, what)
	}
	s.content[page] = content
	require.Equal(t, counting(20_000).AppendTo(nil), q.AppendTo(nil))
}

// builtSequence makes a sequence of pieces of at most so many bytes.
func builtSequence(packed []byte, longest int) (*Sequence, error) {
	b := NewSequenceBuilder(len(packed))
	for len(packed) > 0 {
		n := 1 + rand.IntN(min(longest, len(packed)))
		if _, err := b.Write(packed[:n]); err != nil {
			return nil, err
		}
		packed = packed[n:]
	}
	return b.Sequence()
}

// TestSequenceBuilder: whatever is read of a sequence, in whatever pieces, makes the same one; and nothing else does.
func TestSequenceBuilder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := words("e", rapid.SampledFrom([]int{1, 3, 100, 700, 4000}).Draw(t, "elements"), rapid.SampledFrom([]int{0, 30, 2000}).Draw(t, "longest"))
		packed := new(Sequence).Splice(0, 0, all...).AppendTo(nil)
		s, err := builtSequence(packed, rapid.SampledFrom([]int{1, 700, 300_000}).Draw(t, "piece"))
		require.NoError(t, err)
		requireSequence(t, texts(all), s)
		for _, bad := range [][]byte{{}, {0}, packed[:len(packed)-1], append(bytes.Clone(packed), 0), {1, 0x80}, bytes.Repeat([]byte{0xff}, 11)} {
			_, err := builtSequence(bad, 700)
			require.ErrorIs(t, err, ErrPacked)
			_, ok := UnpackSequence(bad)
			require.False(t, ok)
		}
	})
}

func FuzzSequenceBuilder(f *testing.F) {
	f.Add(counting(300).AppendTo(nil), 100)
	f.Add([]byte{2, 1, 'k', 0}, 1)
	f.Fuzz(func(t *testing.T, packed []byte, longest int) {
		s, err := builtSequence(packed, max(1, longest%1000))
		if err != nil {
			require.ErrorIs(t, err, ErrPacked)
			return
		}
		soundSequence(t, s.root, true)
		require.Equal(t, UvarintSize(s.Len())+s.size, s.Size())
		_, head := binary.Uvarint(packed)
		require.Equal(t, len(packed)-head, len(s.AppendTo(nil))-UvarintSize(s.Len()))
	})
}
