package table

import (
	"encoding/binary"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

// TestTableKeepsItsShape puts keys at positions that are even, clustered, and equal,
// which no client could do so well, and looks into the table after each batch.
func TestTableKeepsItsShape(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := Make(nil)
		model := map[engine.Position]int{}
		spread := rapid.IntRange(0, positionBits).Draw(t, "spread")
		position := rapid.Map(rapid.Uint64Range(0, 1<<12-1), func(n uint64) engine.Position {
			return engine.Position(n) << spread % engine.EndPosition
		})
		t.Repeat(map[string]func(*rapid.T){
			"insert": func(t *rapid.T) {
				for _, pos := range rapid.SliceOfN(position, 0, 500).Draw(t, "positions") {
					e, found := table.Upsert(pos, keyAt(pos, model[pos]))
					require.False(t, found)
					require.Equal(t, pos, e.Position())
					model[pos]++
				}
			},
			"remove": func(t *rapid.T) {
				positions := make([]engine.Position, 0, len(model))
				for pos := range model {
					positions = append(positions, pos)
				}
				slices.Sort(positions)
				for _, pos := range positions[:len(positions)*rapid.IntRange(0, 100).Draw(t, "percent")/100] {
					model[pos]--
					_, found := table.Remove(pos, keyAt(pos, model[pos]))
					require.True(t, found)
					if model[pos] == 0 {
						delete(model, pos)
					}
				}
			},
			"": func(t *rapid.T) { requireShape(t, &table, model) },
		})
	})
}

func keyAt(pos engine.Position, n int) []byte {
	return binary.BigEndian.AppendUint64(nil, uint64(pos)<<16+uint64(n))
}

func requireShape(t require.TestingT, table *Table, model map[engine.Position]int) {
	size := 0
	for pos, n := range model {
		size += n
		_, found := table.Find(pos, keyAt(pos, n-1))
		require.True(t, found)
		_, found = table.Find(pos, keyAt(pos, n))
		require.False(t, found)
	}
	require.Equal(t, size, table.Len())
	if size == 0 {
		require.Empty(t, table.directory)
		return
	}
	if table.directory == nil {
		requirePage(t, &table.root, 0)
		require.Len(t, table.root.entries, size)
		return
	}
	require.Len(t, table.directory, 1<<table.depth)
	deepest := 0
	for i := 0; i < len(table.directory); {
		p := table.directory[i]
		width := 1 << (table.depth - p.depth)
		require.Zero(t, i%width, "a page begins where its number of bits says")
		for j := range width {
			require.Same(t, p, table.directory[i+j])
		}
		requirePage(t, p, engine.Position(i)<<(positionBits-table.depth))
		if width == 1 {
			deepest++
		}
		i += width
		size -= len(p.entries)
	}
	require.Equal(t, deepest, table.deepest)
	require.Zero(t, size, "entries in pages")
}

func requirePage(t require.TestingT, p *page, start engine.Position) {
	for i := range p.entries {
		e := Ref{p, i}
		require.Equal(t, start, p.start(e.Position()))
		if i > 0 {
			before := Ref{p, i - 1}
			require.True(t, before.Position() < e.Position() ||
				before.Position() == e.Position() && before.Key() < e.Key(), "order")
		}
	}
	slack := max(pageStep, len(p.entries)/8)
	require.LessOrEqual(t, cap(p.entries), 2*(len(p.entries)+slack))
}

// TestTableShrinks fills and empties a table, and looks at the directory.
func TestTableShrinks(t *testing.T) {
	const n = 20_000
	table := Make(nil)
	position := func(i int) engine.Position { return engine.PositionOf(keyAt(0, i)) }
	for i := range n {
		table.Upsert(position(i), keyAt(0, i))
	}
	require.Less(t, len(table.directory), n/4)
	require.Greater(t, len(table.directory), n/pageSize)
	for i := range n - 10 {
		table.Remove(position(i), keyAt(0, i))
	}
	require.LessOrEqual(t, len(table.directory), 16)
	for i := n - 10; i < n; i++ {
		table.Remove(position(i), keyAt(0, i))
	}
	require.Equal(t, table.Another(), table, "nothing is left of it")
}

// TestTableWithHostileKeys puts keys whose positions differ in the last bits only.
func TestTableWithHostileKeys(t *testing.T) {
	const n = 10_000
	table := Make(nil)
	model := map[engine.Position]int{}
	for i := range n {
		pos := engine.Position(i / 4)
		table.Upsert(pos, keyAt(pos, model[pos]))
		model[pos]++
	}
	require.LessOrEqual(t, len(table.directory), n/4)
	requireShape(t, &table, model)
}

// TestFirst compares where a page looks with counting, for positions that are even, and clustered.
func TestFirst(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		depth := rapid.Uint8Range(0, 20).Draw(t, "depth")
		width := rapid.IntRange(0, positionBits-int(depth)).Draw(t, "width")
		start := engine.Position(rapid.Uint64Range(0, 1<<depth-1).Draw(t, "start")) << (positionBits - depth)
		position := rapid.Map(rapid.Uint64Range(0, 1<<width-1), func(n uint64) engine.Position { return start + engine.Position(n) })
		positions := rapid.SliceOfN(position, 0, 2*pageSize).Draw(t, "positions")
		slices.Sort(positions)
		p := page{depth: depth}
		for _, pos := range positions {
			p.places = append(p.places, place(pos)<<16)
		}
		for _, pos := range append(positions, position.Draw(t, "another"), start+1<<(positionBits-depth)) {
			below := 0
			for _, other := range positions {
				if other < pos {
					below++
				}
			}
			require.Equal(t, below, p.first(pos))
		}
	})
}

// TestPrefetchOfAnyTable: it finds its way in tables of all sizes, and changes nothing.
func TestPrefetchOfAnyTable(t *testing.T) {
	for _, n := range []int{0, 1, 10, pageSize + 1, 5000} {
		table := Make(nil)
		var positions []engine.Position
		for i := range n {
			pos := engine.PositionOf(keyAt(0, i))
			e, _ := table.Upsert(pos, keyAt(0, i))
			e.Set(record.Record{State: record.State{Type: record.String, Value: make([]byte, i)}})
			positions = append(positions, pos)
		}
		positions = append(positions, 0, engine.EndPosition-1)
		for len(positions) > 0 {
			some := positions[:min(len(positions), PrefetchMax)]
			positions = positions[len(some):]
			tables, uses := make([]*Table, len(some)), make([]engine.Use, len(some))
			for i := range some {
				if tables[i], uses[i] = &table, engine.Use(i%3); i%5 == 4 {
					tables[i] = nil
				}
			}
			Prefetch(tables, some, uses)
		}
		require.Equal(t, n, table.Len())
	}
}
