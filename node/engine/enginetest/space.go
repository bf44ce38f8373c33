package enginetest

import (
	"bytes"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

func testRoomAndUsage(t *testing.T, e engine.Engine) {
	require.NoError(t, e.Room())
	for i := range 200 {
		require.NoError(t, e.Put(1, keyNumber(i), text(1, string(bytes.Repeat([]byte("x"), 10<<10)))))
	}
	require.NoError(t, e.Room())
	requireSound(t, e.Usage())
}

// requireSound requires of a Usage what can be said of any.
func requireSound(t require.TestingT, u engine.Usage) {
	require.LessOrEqual(t, u.Journal, u.Disk, "%+v", u)
	require.LessOrEqual(t, u.Live+u.Dead, u.Disk, "%+v", u)
}

// testLargeValues goes up to what a client may send, 100 MiB and more, unless the test
// is to be short.
func testLargeValues(t *testing.T, open func(*testing.T) engine.Engine) {
	sizes := []int{1 << 20, 3<<20 + 1, 20 << 20}
	if !testing.Short() {
		sizes = append(sizes, 100<<20)
	}
	e := open(t)
	defer func() { require.NoError(t, e.Close()) }()
	contents := map[string]record.Record{}
	for i, size := range sizes {
		rec := text(uint64(i), string(randomBytes(uint64(i), size)))
		contents[fmt.Sprint(size)] = rec
		require.NoError(t, e.Put(1, []byte(fmt.Sprint(size)), rec))
		commit(t, e)
	}
	requireContents(t, e, 1, contents)
	for i, size := range sizes {
		require.NoError(t, e.Put(1, []byte(fmt.Sprint(size)), tombstone(uint64(100+i))))
		contents[fmt.Sprint(size)] = tombstone(uint64(100 + i))
	}
	requireContents(t, e, 1, contents)
}

// testCorrect replaces what is said of a slot; what is written afterwards is counted on top.
func testCorrect(t *testing.T, e engine.Engine) {
	require.NoError(t, e.Put(1, []byte("a"), text(1, "v")))
	right, err := e.Stats(1)
	require.NoError(t, err)
	leaves, err := e.Leaves(1)
	require.NoError(t, err)
	wrong := engine.SlotStats{Live: 7, Tombstones: 8, Bytes: 9, Digest: 10, TombstoneDigest: 11}
	wrongLeaves := engine.Leaves{3: 10, 9: 11}
	require.NoError(t, e.Correct(1, wrong, wrongLeaves))
	require.NoError(t, e.Put(1, []byte("b"), tombstone(2)))
	wrong.Add([]byte("b"), tombstone(2))
	wrongLeaves.Add(engine.PositionOf([]byte("b")), version(2))
	gotStats, err := e.Stats(1)
	require.NoError(t, err)
	gotLeaves, err := e.Leaves(1)
	require.NoError(t, err)
	require.Equal(t, wrong, gotStats)
	require.Equal(t, wrongLeaves, gotLeaves, "they are kept with writes, not derived when they are asked for")

	right.Add([]byte("b"), tombstone(2))
	leaves.Add(engine.PositionOf([]byte("b")), version(2))
	require.NoError(t, e.Correct(1, right, leaves))
	requireContents(t, e, 1, map[string]record.Record{"a": text(1, "v"), "b": tombstone(2)})
	require.ErrorIs(t, e.Correct(engine.Slots, right, leaves), engine.ErrSlot)
}
