package parts

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/record"
)

// lazyShelf returns a shelf whose maps are read when they are needed, with a map of so many items, and its root.
func lazyShelf(t require.TestingT, items int) (*shelf, *Map, record.Place) {
	s, m := newShelf(), numbered(items)
	s.keep(m.Root())
	root := *m.Root().Stored()
	s.whole, s.reads = 1, 0
	lazy, err := AssembleMap(root, s)
	require.NoError(t, err)
	return s, lazy, root
}

// version is a map, and what it should hold.
type version struct {
	m    *Map
	want map[string]string
}

// TestUnread: whatever is done to versions of maps that are not in memory as a whole, stored, read again, each is what it should be.
func TestUnread(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, first, _ := lazyShelf(t, rapid.SampledFrom([]int{10, 300, 2000, 20_000}).Draw(t, "items"))
		random := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 1))
		s.whole = rapid.SampledFrom([]int{1, 20_000}).Draw(t, "whole")
		want := map[string]string{}
		for key, value := range numbered(first.Len()).All() {
			want[string(key)] = string(value)
		}
		versions := []version{{first, want}}
		latest := func() *version { return &versions[len(versions)-1] }
		some := func(t *rapid.T) version { return versions[rapid.IntRange(0, len(versions)-1).Draw(t, "version")] }
		t.Repeat(map[string]func(*rapid.T){
			"change": func(t *rapid.T) {
				next := some(t)
				next.want = maps.Clone(next.want)
				area, most := random.IntN(first.Len()+1), rapid.SampledFrom([]int{1, 30, 2000}).Draw(t, "changes")
				remove := random.IntN(4)
				for i := range most {
					key := fmt.Sprint("field", area+random.IntN(1+i))
					if random.IntN(4) < remove {
						next.m, _ = next.m.Remove([]byte(key))
						delete(next.want, key)
					} else {
						value := strings.Repeat("v", random.IntN(300))
						next.m, _ = next.m.Set([]byte(key), []byte(value))
						next.want[key] = value
					}
				}
				versions = append(versions, next)
			},
			"remove many": func(t *rapid.T) {
				next := some(t)
				next.want = maps.Clone(next.want)
				for _, key := range slices.Sorted(maps.Keys(next.want)) {
					if random.IntN(10) > 0 {
						next.m, _ = next.m.Remove([]byte(key))
						delete(next.want, key)
					}
				}
				versions = append(versions, next)
			},
			"get": func(t *rapid.T) {
				v := some(t)
				for range 10 {
					key := fmt.Sprint("field", random.IntN(first.Len()+1))
					value, found := v.m.Get([]byte(key))
					want, there := v.want[key]
					require.Equal(t, there, found)
					require.Equal(t, want, string(value))
				}
			},
			"rank": func(t *rapid.T) {
				if v := some(t); v.m.Len() > 0 {
					rank := random.IntN(v.m.Len())
					key, value := v.m.At(rank)
					require.Equal(t, v.want[string(key)], string(value))
				}
			},
			"from": func(t *rapid.T) {
				v, pos, n := some(t), random.Uint64N(Positions), 0
				for key, value := range v.m.From(pos) {
					require.GreaterOrEqual(t, Position(key), pos)
					require.Equal(t, v.want[string(key)], string(value))
					if n++; n > 20 {
						break
					}
				}
			},
			"room": func(t *rapid.T) { s.room = rapid.IntRange(0, 200_000).Draw(t, "room") },
			"read": func(t *rapid.T) { requireItems(t, some(t)) },
			"load": func(t *rapid.T) { // the version before is kept
				if latest().m.Len() == 0 {
					return
				}
				s.keep(latest().m.Root())
				again, err := AssembleMap(*latest().m.Root().Stored(), s)
				require.NoError(t, err)
				versions = append(versions, version{again, latest().want})
			},
			"forget": func(*rapid.T) {
				if len(versions) > 3 {
					versions = slices.Delete(versions, 0, random.IntN(3))
				}
			},
			"": func(t *rapid.T) {
				require.Equal(t, len(latest().want), latest().m.Len())
				require.LessOrEqual(t, latest().m.Memory(), latest().m.Size()*3/2)
			},
		})
		for _, v := range versions {
			requireItems(t, v)
		}
	})
}

// requireItems requires that a version has its items, however it is looked at.
func requireItems(t require.TestingT, v version) {
	packed, err := io.ReadAll(v.m.Reader())
	require.NoError(t, err)
	require.Len(t, packed, v.m.Size())
	require.Equal(t, string(packed), string(v.m.AppendTo(nil)))
	n := 0
	for key, value := range v.m.All() {
		require.Equal(t, v.want[string(key)], string(value))
		n++
	}
	require.Equal(t, len(v.want), n)
	require.Equal(t, n, v.m.Len())
}

// TestWhatIsReadOfAMap: one item needs the way to it, once; a change needs no more, and what has changed of it is all that is stored; what is small is read whole.
func TestWhatIsReadOfAMap(t *testing.T) {
	s, m, _ := lazyShelf(t, 100_000)
	require.Equal(t, 1, s.reads, "a map that is not needed is read")
	require.Less(t, m.Memory()+s.kept, m.Size()/10)
	reads := func(do func()) int {
		before := s.reads
		do()
		return s.reads - before
	}
	get := func() { m.Get([]byte("field77")) }
	require.LessOrEqual(t, reads(get), 3)
	require.Zero(t, reads(get))
	require.LessOrEqual(t, reads(func() { m, _ = m.Set([]byte("field99"), []byte("new")) }), 3)
	require.LessOrEqual(t, reads(func() { m, _ = m.Remove([]byte("field55")) }), 3)
	require.LessOrEqual(t, reads(func() { m.At(m.Len() / 3) }), 3)
	require.Less(t, s.kept, m.Size()/10)

	before := s.kept
	require.Greater(t, reads(func() { _, _ = io.Copy(io.Discard, m.Reader()) }), 100)
	require.Less(t, s.kept-before, m.Size()/10, "a walk keeps what it comes by")
	s.room = m.Size() / 2
	require.Greater(t, reads(func() { _, _ = io.Copy(io.Discard, m.Reader()) }), 100)
	require.Greater(t, s.kept-before, m.Size()/4, "a walk keeps nothing though there is room")

	s.whole = m.Size() + 1
	m, _ = m.Set([]byte("field1"), nil)
	require.Zero(t, reads(func() { m.AppendTo(nil) }), "a map that is to be in memory as a whole is not")
}

// TestWhatTheStoreHasOfTheNewestVersion is enough for all versions that came from the same reading, and for who is in the middle of one.
func TestWhatTheStoreHasOfTheNewestVersion(t *testing.T) {
	s, m, _ := lazyShelf(t, 20_000)
	want := numbered(20_000).AppendTo(nil)
	const walks = 10
	var rest [walks]io.Reader
	for i := range walks {
		rest[i] = m.Reader()
		_, err := rest[i].Read(make([]byte, len(want)/walks*i))
		require.NoError(t, err)
	}
	next := m
	for i := range 50 {
		next, _ = next.Set(fmt.Append(nil, "field", i*397), []byte("new"))
		next, _ = next.Remove(fmt.Append(nil, "field", i*398+1))
		s.keep(next.Root())
		s.retain(*next.Root().Stored())
	}
	for i, r := range rest {
		got, err := io.ReadAll(r)
		require.NoError(t, err)
		require.Equal(t, string(want[len(want)/walks*i:]), string(got))
	}
	require.Equal(t, string(want), string(m.AppendTo(nil)))
}

// TestAPartThatCannotBeRead is an error for whoever needs it, and leaves everything as it was; nobody else notices.
func TestAPartThatCannotBeRead(t *testing.T) {
	s, m, root := lazyShelf(t, 20_000)
	whole := m.AppendTo(nil)
	m, err := AssembleMap(root, s)
	require.NoError(t, err)
	page := record.Place{Object: 1, Part: 1} // the first ones stored are pages
	content := s.content[page]
	key, value, _, _ := Next(content, 1+position(t, content))
	key, value = slices.Clone(key), slices.Clone(value)
	for what, spoil := range map[string]func(){
		"gone":          func() { delete(s.content, page) },
		"cut":           func() { s.content[page] = content[:len(content)/2] },
		"another":       func() { s.content[page] = s.content[record.Place{Object: 1, Part: 2}] },
		"empty":         func() { s.content[page] = nil },
		"what is above": func() { s.content[page] = s.content[root] },
	} {
		spoil()
		for _, use := range []func(){
			func() { m.Get(key) },
			func() { m.Set(key, value) },
			func() { m.Remove(key) },
			func() { m.AppendTo(nil) },
			func() {
				for range m.All() {
				}
			},
		} {
			err := caught(use)
			require.Error(t, err, what)
		}
		_, err := io.ReadAll(m.Reader())
		require.Error(t, err, what)
		s.content[page] = content
	}
	got, found := m.Get(key)
	require.True(t, found)
	require.Equal(t, value, got)
	require.Equal(t, whole, m.AppendTo(nil), "what could not be read has changed the map")
}

// position returns where the items of the first leaf of a page begin.
func position(t *testing.T, page []byte) int {
	d := decoder{page[1:]}
	d.uvarint()
	d.uvarint()
	n := d.uvarint()
	require.NotNil(t, d.rest)
	require.Less(t, n, uint64(len(d.rest)))
	return len(page) - 1 - len(d.rest)
}

func caught(use func()) (err error) {
	defer record.Catch(&err)
	use()
	return nil
}

// TestOtherPanicsGoOn: what is caught is what could not be read.
func TestOtherPanicsGoOn(t *testing.T) {
	require.PanicsWithValue(t, "other", func() { _ = caught(func() { panic("other") }) })
	failed := errors.New("failed")
	require.ErrorIs(t, caught(func() { panic(record.Unreadable{Err: failed}) }), failed)
}
