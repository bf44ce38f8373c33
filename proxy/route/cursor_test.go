package route

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/ring"
)

func TestCursorsAreSmallAndInOrder(t *testing.T) {
	require.Less(t, endCursor, Cursor(1)<<53+1)
	rapid.Check(t, func(t *rapid.T) {
		place := func(label string) protocol.Place {
			return protocol.NewPlace(uint16(rapid.IntRange(0, ring.Slots-1).Draw(t, label+" slot")), rapid.Uint64Range(0, 1<<48-1).Draw(t, label+" position"))
		}
		a, b := place("a"), place("b")
		at := cursorAt(a)
		require.Less(t, at, endCursor)
		require.Equal(t, at, Cursor(float64(at)))
		require.LessOrEqual(t, at.place(), a)
		require.Less(t, a-at.place(), protocol.Place(1)<<coarseBits)
		require.Equal(t, at, cursorAt(at.place()))
		if a < b {
			require.LessOrEqual(t, at, cursorAt(b))
		}
	})
}

// TestScanWhereKeysShareACursor: keys whose positions differ only in bits that cursors do not have, as somebody who
// wants to harm can choose them, are all found, each once, whatever COUNT is.
func TestScanWhereKeysShareACursor(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	c := f.coordinator(patient)
	var all []string
	for i := range 500 {
		all = append(all, fmt.Sprintf("{slot}%c%c", 'a'+i%25, 'a'+i/25)) // the fake ring's positions of these are near each other
	}
	f.hold(1, record.String, all, 1, 2, 3)
	for _, count := range []int{1, 7, 100, 1000} {
		keys, _ := scanAll(t, c, count)
		require.ElementsMatch(t, all, keys)
	}
}
