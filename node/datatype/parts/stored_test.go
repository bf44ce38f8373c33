package parts

import (
	"fmt"
	"maps"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/record"
)

// shelf is a store of parts, and a record.Source.
type shelf struct {
	whole   int // objects of fewer bytes are read whole
	room    int // for so many bytes more
	kept    int
	reads   int
	next    uint64
	content map[record.Place][]byte
	below   map[record.Place][]record.Place
}

func newShelf() *shelf {
	return &shelf{whole: math.MaxInt, content: map[record.Place][]byte{}, below: map[record.Place][]record.Place{}}
}

// keep stores a part and what is below it, as far as it is not there, and returns how many were not.
func (s *shelf) keep(p record.Part) (added int) {
	if *p.Stored() != (record.Place{}) {
		return 0
	}
	var below []record.Place
	for i := range p.Parts() {
		b := p.Part(i)
		added += s.keep(b)
		below = append(below, *b.Stored())
	}
	s.next++
	at := record.Place{Object: 1, Part: s.next}
	s.content[at], s.below[at], *p.Stored() = p.AppendPart(nil), below, at
	return added + 1
}

func (s *shelf) Read(at record.Place, decode func([]byte, []record.Place) error) error {
	s.reads++
	content, found := s.content[at]
	if !found {
		return fmt.Errorf("no part at %v", at)
	}
	return decode(slices.Clone(content), s.below[at])
}

// retain removes what is not below a root.
func (s *shelf) retain(root record.Place) {
	named := map[record.Place]bool{}
	var note func(at record.Place)
	note = func(at record.Place) {
		named[at] = true
		for _, b := range s.below[at] {
			note(b)
		}
	}
	note(root)
	maps.DeleteFunc(s.content, func(at record.Place, _ []byte) bool { return !named[at] })
}

func (s *shelf) Whole(size int) bool { return size < s.whole }
func (s *shelf) Room(n int) bool     { return n <= s.room }

func (s *shelf) Kept(n int) {
	s.kept += n
	s.room -= n
}

// TestStoredMap: a map that is put together from its parts is the map that was stored, and can be changed and stored again.
func TestStoredMap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, m := newShelf(), new(Map)
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		keys, longest := rapid.SampledFrom([]int{1, 40, 5000}).Draw(t, "keys"), rapid.SampledFrom([]int{0, 20, 3000}).Draw(t, "longest")
		for range rapid.IntRange(1, 4).Draw(t, "times") {
			for range rapid.IntRange(1, 3000).Draw(t, "changes") {
				key := fmt.Append(nil, "k", random.IntN(keys))
				if random.IntN(3) > 0 {
					m, _ = m.Set(key, []byte(strings.Repeat("v", random.IntN(longest+1))))
				} else {
					m, _ = m.Remove(key)
				}
			}
			if m.Len() == 0 { // it is no object
				continue
			}
			s.keep(m.Root())
			require.Zero(t, s.keep(m.Root()), "what is stored is stored again")
			other, err := AssembleMap(*m.Root().Stored(), s)
			require.NoError(t, err)
			require.Equal(t, m.AppendTo(nil), other.AppendTo(nil))
			require.Equal(t, m.Len(), other.Len())
			sound(t, other.root, 0, true)
			require.Zero(t, s.keep(other.Root()), "what was read is stored again")
			m = other
		}
	})
}

// TestAChangeStoresFewParts: those on the way to the item, which are short.
func TestAChangeStoresFewParts(t *testing.T) {
	s, m := newShelf(), numbered(100_000)
	all := s.keep(m.Root())
	require.Greater(t, all, 200)
	first := s.next
	m, _ = m.Set([]byte("field77"), []byte("another"))
	require.LessOrEqual(t, s.keep(m.Root()), 5)
	for at, content := range s.content {
		if at.Part > first {
			require.Less(t, len(content), 9<<10)
		}
	}
}

// TestADamagedPart is an error, whatever its bytes are; and so is one that cannot be read, or is another one.
func TestADamagedPart(t *testing.T) {
	s, m := newShelf(), numbered(10_000)
	s.keep(m.Root())
	root := *m.Root().Stored()
	for at, content := range s.content {
		if at.Part%10 != 0 && at != root {
			continue
		}
		delete(s.content, at)
		_, err := AssembleMap(root, s)
		require.ErrorContains(t, err, "no part")
		for cut := range min(len(content), 50) {
			s.content[at] = content[:cut]
			_, err := AssembleMap(root, s)
			require.ErrorIs(t, err, errPart)
		}
		s.content[at] = content
	}
	few := s.below[root][:1]
	s.below[root] = few
	_, err := AssembleMap(few[0], s)
	require.NoError(t, err)
	s.below[few[0]] = few // for ever
	_, err = AssembleMap(few[0], s)
	require.ErrorIs(t, err, errPart)
}

// TestStoredRope: a rope that is put together from its parts is the rope that was stored, and a change of it stores few.
func TestStoredRope(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, r, model := newShelf(), new(Rope), []byte{}
		most := rapid.SampledFrom([]int{10, 5000, 300_000}).Draw(t, "most")
		for range rapid.IntRange(1, 6).Draw(t, "times") {
			at := rapid.IntRange(0, most).Draw(t, "at")
			data := []byte(strings.Repeat("x", rapid.IntRange(1, 5000).Draw(t, "length")))
			model = append(model, make([]byte, max(0, at+len(data)-len(model)))...)
			copy(model[at:], data)
			before := r.Size()
			r = r.With(0, at, data)
			if added := s.keep(r.Root()); before == len(model) {
				require.LessOrEqual(t, added, 8, "a change stores much")
			}
			other, err := AssembleRope(*r.Root().Stored(), s)
			require.NoError(t, err)
			require.Equal(t, string(model), string(other.AppendTo(nil)))
			require.Equal(t, r.height, other.height)
			require.Equal(t, r.size, other.size)
			require.Zero(t, s.keep(other.Root()))
			r = other
		}
	})
}

// TestADamagedRope is an error, whatever is wrong with it.
func TestADamagedRope(t *testing.T) {
	s, r := newShelf(), NewRope(make([]byte, 200_000))
	s.keep(r.Root())
	root := *r.Root().Stored()
	for at, content := range s.content {
		below := s.below[at]
		delete(s.content, at)
		_, err := AssembleRope(root, s)
		require.ErrorContains(t, err, "no part")
		s.content[at] = append(content[:len(content):len(content)], make([]byte, ropePart)...)
		_, err = AssembleRope(root, s)
		require.ErrorIs(t, err, errPart)
		s.content[at] = content
		if len(below) > 1 {
			s.below[at] = append(below[1:len(below):len(below)], below[0], below[0]) // the last one is short
			_, err = AssembleRope(root, s)
			require.ErrorIs(t, err, errPart)
		}
		s.below[at] = below
	}
}
