package memory_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/memory"
)

// TestLimit: the engine says when it has reached its limit, whatever its values are, and when there is room again.
func TestLimit(t *testing.T) {
	for _, size := range []int{0, 10, 200, record.CopiedValue + 1, 10_000} {
		t.Run(fmt.Sprint(size), func(t *testing.T) {
			const limit = 1 << 20
			e := memory.NewWithin(limit)
			put := func(i int) {
				if err := e.Put(uint16(i%100), fmt.Appendf(nil, "key %d", i), text(make([]byte, size))); err != nil {
					t.Fatal(err)
				}
			}
			n := 0
			for ; e.Room() == nil; n++ {
				put(n)
			}
			require.ErrorIs(t, e.Room(), engine.ErrCrowded)
			require.NotErrorIs(t, e.Room(), engine.ErrBrimful)
			require.ErrorContains(t, e.Room(), "1 MiB of memory are in use, of 1 MiB")
			require.Less(t, n*(size+64), limit)
			require.Greater(t, (n+1)*(size+250), limit, "what entries take beside their values")
			crowded := n
			for ; e.Room() != nil && n < 2*crowded; n++ {
				put(n)
			}
			require.ErrorIs(t, e.Room(), engine.ErrBrimful)
			for i := range n {
				if err := e.Delete(uint16(i%100), fmt.Appendf(nil, "key %d", i)); err != nil {
					t.Fatal(err)
				}
			}
			require.NoError(t, e.Room())

			for i := range crowded + 1 {
				put(i)
			}
			require.Error(t, e.Room())
			for slot := range uint16(100) {
				if slot%2 == 0 {
					require.NoError(t, e.Reset(slot, record.SlotMeta{}))
				} else {
					require.NoError(t, e.Clear(slot, record.SlotMeta{Cleared: record.Version{Seq: 1}}))
				}
			}
			require.NoError(t, e.Room())
		})
	}
}
