package table

import (
	"bytes"
	"fmt"
	"testing"
	"unsafe"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/arena"
)

// TestTableKeepsItsBytes writes and removes keys and values of all lengths, so that pages split and merge and their memory is
// used again, and compares with a map.
func TestTableKeepsItsBytes(t *testing.T) {
	t.Run("on Go's heap", func(t *testing.T) { testTableKeepsItsBytes(t, nil) })
	t.Run("in an arena", func(t *testing.T) { testTableKeepsItsBytes(t, arena.New()) })
}

func testTableKeepsItsBytes(t *testing.T, a *arena.Arena) {
	rapid.Check(t, func(t *rapid.T) {
		table := Make(a)
		defer func() {
			table.Clear()
			require.Zero(t, table.Len())
			require.Zero(t, a.Used())
		}()
		want := map[string][]byte{}
		lengths := rapid.SampledFrom([]int{0, 1, 7, 8, 9, 64, 200, record.CopiedValue, record.CopiedValue + 1, 5000})
		written := byte(0)
		t.Repeat(map[string]func(*rapid.T){
			"write": func(t *rapid.T) {
				first, length := rapid.IntRange(0, 300).Draw(t, "first"), lengths.Draw(t, "length")
				end := first + rapid.IntRange(1, 200).Draw(t, "count")
				for i := first; i < end; i++ {
					written++
					value := bytes.Repeat([]byte{written}, length)
					ref, _ := table.Upsert(position(i), longKeyNumber(i))
					ref.Set(record.Record{State: record.State{Type: record.String, Value: value}})
					want[string(longKeyNumber(i))] = bytes.Clone(value)
					if length <= record.CopiedValue {
						clear(value) // it was borrowed
					}
				}
			},
			"move": func(t *rapid.T) { // what is borrowed from the table itself
				from, to := rapid.IntRange(0, 300).Draw(t, "from"), rapid.IntRange(0, 300).Draw(t, "to")
				if old, found := table.Find(position(from), longKeyNumber(from)); found {
					rec := old.Record()
					want[string(longKeyNumber(to))] = bytes.Clone(rec.State.Value)
					ref, _ := table.Upsert(position(to), longKeyNumber(to))
					ref.Set(rec)
				}
			},
			"remove": func(t *rapid.T) {
				first := rapid.IntRange(0, 300).Draw(t, "first")
				end := first + rapid.IntRange(1, 200).Draw(t, "count")
				for i := first; i < end; i++ {
					_, found := table.Remove(position(i), longKeyNumber(i))
					_, wanted := want[string(longKeyNumber(i))]
					require.Equal(t, wanted, found)
					delete(want, string(longKeyNumber(i)))
				}
			},
			"": func(t *rapid.T) {
				requireBytes(t, &table, want)
			},
		})
	})
}

func position(i int) engine.Position { return engine.PositionOf(longKeyNumber(i)) }

// longKeyNumber returns a key, of one of many lengths.
func longKeyNumber(i int) []byte {
	return fmt.Appendf(nil, "%d %s", i, bytes.Repeat([]byte("k"), i*i%(2*record.CopiedValue)))
}

func requireBytes(t require.TestingT, table *Table, want map[string][]byte) {
	pages := map[*page]bool{}
	n := 0
	table.Ascend(0, func(ref Ref) bool {
		n++
		pages[ref.page] = true
		key := string(ref.AppendKey(nil))
		require.True(t, ref.HasKey([]byte(key)))
		value := ref.Record().State.Value
		require.Equal(t, string(want[key]), string(value))
		require.Equal(t, len(key)+len(value), ref.Size())
		require.Equal(t, len(value), cap(value), "an append would write to what is stored")
		return true
	})
	require.Len(t, want, n)
	long := 0
	for p := range pages {
		long += requireHeap(t, p)
	}
	require.Equal(t, long, len(table.root.far.list)-len(table.root.far.free))
	requireCounted(t, table, pages)
}

// requireCounted adds up what a table, which is the only one of its arena, has of it.
func requireCounted(t require.TestingT, table *Table, pages map[*page]bool) {
	used := 0
	for _, memory := range table.former {
		used += cap(memory)
	}
	for _, p := range table.directory { // empty ones too
		pages[p] = true
	}
	if table.directory != nil {
		used += len(pages) * int(unsafe.Sizeof(page{}))
	}
	for p := range pages {
		used += cap(p.places)*8 + cap(p.entries)*64 + cap(p.near)
		for i := range p.entries {
			used += p.farSizeOf(&p.entries[i])
		}
	}
	if a := table.root.arena; a != nil {
		require.EqualValues(t, used, a.Used())
	}
}

// requireHeap counts what a page's entries have in its heap, and returns how many have bytes elsewhere.
func requireHeap(t require.TestingT, p *page) int {
	live, long := 0, 0
	count := func(what piece) {
		live += what.nearSize()
		if what.at&isFar != 0 {
			long++
		}
	}
	for i := range p.entries {
		count(p.entries[i].value)
		if p.entries[i].keyLen > shortKey {
			count(p.entries[i].longKey())
		}
	}
	require.Equal(t, live, p.live)
	return long
}

// TestWhatIsDeletedGivesItsMemoryBack at once, be it removed or overwritten by a tombstone, and though nothing is written to its page any more.
func TestWhatIsDeletedGivesItsMemoryBack(t *testing.T) {
	for name, gone := range map[string]func(table *Table, i int){
		"removed": func(table *Table, i int) { table.Remove(position(i), longKeyNumber(i)) },
		"made tombstones": func(table *Table, i int) {
			ref, _ := table.Find(position(i), longKeyNumber(i))
			ref.Set(record.Record{})
		},
	} {
		for _, keys := range []int{1, 8, 1000} {
			t.Run(fmt.Sprint(name, keys), func(t *testing.T) {
				a := arena.New()
				table := Make(a)
				for i := range keys {
					ref, _ := table.Upsert(position(i), longKeyNumber(i))
					ref.Set(record.Record{State: record.State{Type: record.String, Value: bytes.Repeat([]byte{1}, record.CopiedValue)}})
				}
				full := a.Used()
				for i := range keys {
					gone(&table, i)
				}
				require.Less(t, a.Used(), 2*full/3, "the keys of tombstones stay")
			})
		}
	}
}
