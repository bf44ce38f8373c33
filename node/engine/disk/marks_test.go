package disk

import (
	"encoding/binary"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

// TestCountsWithoutLeaves are what a store has that was closed before there were leaves: the slot is
// counted again.
func TestCountsWithoutLeaves(t *testing.T) {
	closed := slot{number: 7, meta: record.SlotMeta{Epoch: 3}, counted: engine.EndPosition}
	stats, leaves := engine.SlotStats{Live: 2, Bytes: 9, Digest: 5 + 8}, engine.Leaves{0: 5, 63: 8}
	closed.counters.Replace(stats, leaves)
	value := encodeSlot(&closed, true)

	opened := slot{number: 7}
	require.NoError(t, decodeSlot(&opened, value, true))
	require.Equal(t, engine.EndPosition, opened.counted)
	require.Equal(t, stats, opened.counters.Load())
	require.Equal(t, leaves, opened.counters.Leaves())

	former := value[:len(value)-8-2*8]
	binary.LittleEndian.PutUint32(former, slotSum(7, former[4:]))
	opened = slot{number: 7}
	require.NoError(t, decodeSlot(&opened, former, true))
	require.Zero(t, opened.counted)
	require.Zero(t, opened.counters.Load())
	require.EqualValues(t, 3, opened.meta.Epoch)

	torn := value[:len(value)-8]
	binary.LittleEndian.PutUint32(torn, slotSum(7, torn[4:]))
	require.ErrorIs(t, decodeSlot(&slot{number: 7}, torn, true), errDamaged)
}
