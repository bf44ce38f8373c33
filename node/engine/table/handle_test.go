package table

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

// TestOneLookUp: whoever looks a key up, the next one has its handle.
func TestOneLookUp(t *testing.T) {
	table := Make(nil)
	at := func(i int) (engine.Position, []byte) { return engine.PositionOf(keyAt(0, i)), keyAt(0, i) }
	for i := range 1000 {
		pos, key := at(i)
		table.Upsert(pos, key)
		require.True(t, table.found.is(pos, key), "of a new entry")
	}
	first, _ := at(1)
	for name, lookUp := range map[string]func(pos engine.Position, key []byte){
		"find":   func(pos engine.Position, key []byte) { table.Find(pos, key) },
		"upsert": func(pos engine.Position, key []byte) { table.Upsert(pos, key) },
		"prefetch": func(pos engine.Position, _ []byte) {
			Prefetch([]*Table{&table}, []engine.Position{pos}, []engine.Use{engine.UseWrite})
		},
	} {
		t.Run(name, func(t *testing.T) {
			table.Find(first, keyAt(0, 1))
			pos, key := at(500)
			require.False(t, table.found.is(pos, key))
			lookUp(pos, key)
			require.True(t, table.found.is(pos, key))
			e, found := table.Find(pos, key)
			require.True(t, found)
			require.True(t, e.HasKey(key))
		})
	}
}

// TestAHandleIsOfWhatIsThere: whatever is done between two look-ups of a key, the second finds what was stored last, or nothing. Few keys are at few
// positions, so that entries move often and a handle's key is not the only one at its position.
func TestAHandleIsOfWhatIsThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		table := Make(nil)
		model := map[int]string{}
		number := rapid.IntRange(0, 3*pageSize)
		place := func(i int) (engine.Position, []byte) { return engine.Position(i/2) << 40, keyAt(0, i) }
		t.Repeat(map[string]func(*rapid.T){
			"put": func(t *rapid.T) {
				i := number.Draw(t, "key")
				pos, key := place(i)
				model[i] = rapid.StringN(1, 3, 40).Draw(t, "value")
				e, _ := table.Upsert(pos, key)
				e.Set(record.Record{State: record.State{Type: record.String, Value: []byte(model[i])}})
			},
			"remove": func(t *rapid.T) {
				i := number.Draw(t, "key")
				pos, key := place(i)
				_, found := table.Remove(pos, key)
				_, known := model[i]
				require.Equal(t, known, found)
				delete(model, i)
			},
			"prefetch": func(t *rapid.T) {
				pos, _ := place(number.Draw(t, "key"))
				Prefetch([]*Table{&table}, []engine.Position{pos}, []engine.Use{engine.UseWrite})
			},
			"replace": func(t *rapid.T) {
				if rapid.IntRange(0, 9).Draw(t, "rarely") > 0 {
					return
				}
				other := table.Another()
				for i, value := range model {
					pos, key := place(i)
					e, _ := other.Upsert(pos, key)
					e.Set(record.Record{State: record.State{Type: record.String, Value: []byte(value)}})
				}
				table.Replace(&other)
			},
			"": func(t *rapid.T) {
				i := number.Draw(t, "key")
				pos, key := place(i)
				for range 2 {
					e, found := table.Find(pos, key)
					value, known := model[i]
					require.Equal(t, known, found)
					if known {
						require.True(t, e.HasKey(key))
						require.Equal(t, value, string(e.Record().State.Value))
					}
				}
			},
		})
	})
}
