package table

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/eviction"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/arena"
)

// TestUsagesStayWithTheirKeys, while pages grow, split, merge and shrink; and their memory is given back.
func TestUsagesStayWithTheirKeys(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a := arena.New()
		defer a.Release()
		table, noted := Make(a), map[string]eviction.Usage{}
		put := func(key string) {
			u := eviction.Usage(rapid.Uint32Min(1).Draw(t, "usage"))
			e, _ := table.Upsert(engine.PositionOf([]byte(key)), []byte(key))
			e.Set(record.Record{State: record.State{Type: record.String, Value: []byte(key)}})
			e.SetUsage(u)
			noted[key] = u
		}
		for range rapid.IntRange(1, 6).Draw(t, "rounds") {
			low, n := rapid.IntRange(0, 300).Draw(t, "from"), rapid.IntRange(0, 300).Draw(t, "keys")
			remove := rapid.Bool().Draw(t, "remove")
			for i := low; i < low+n; i++ {
				if key := fmt.Sprint(i); remove {
					table.Remove(engine.PositionOf([]byte(key)), []byte(key))
					delete(noted, key)
				} else {
					put(key)
				}
			}
			for key, u := range noted {
				e, found := table.Find(engine.PositionOf([]byte(key)), []byte(key))
				require.True(t, found)
				seen, known := e.Usage()
				require.True(t, known)
				require.Equal(t, u, seen, key)
			}
		}
		table.Clear()
		require.Zero(t, a.Used())
	})
}
