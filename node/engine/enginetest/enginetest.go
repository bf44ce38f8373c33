// Package enginetest is what every engine.Engine has to pass (Run), what those that
// survive the process have to pass besides (RunDurable), and a test double for those who
// use one (Slow).
//
// The suite assumes nothing about how or where an engine stores things. Run looks only at
// what is staged. RunDurable closes engines and opens them again, and takes their files
// away under them, as they are at one moment, which is what kill -9 leaves.
package enginetest

import (
	"bytes"
	"encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

// Run tests the engines that open returns: empty ones, new at every call. Run
// closes them; open may do more in a t.Cleanup.
func Run(t *testing.T, open func(t *testing.T) engine.Engine) {
	tests := []struct {
		name string
		test func(t *testing.T, e engine.Engine)
	}{
		{"Empty", testEmpty},
		{"SlotMeta", testSlotMeta},
		{"PutGetDelete", testPutGetDelete},
		{"Tombstones", testTombstones},
		{"ExtremeKeysAndValues", testExtremeKeysAndValues},
		{"SlotsAreSeparate", testSlotsAreSeparate},
		{"SlotOutOfRange", testSlotOutOfRange},
		{"ValuesStayAsTheyWere", testValuesStayAsTheyWere},
		{"BorrowedValues", testBorrowedValues},
		{"Patch", testPatch},
		{"PatchOfAnotherRecord", testPatchOfAnotherRecord},
		{"Clear", testClear},
		{"ClearOfManyRecords", testClearOfManyRecords},
		{"ClearAfterClear", testClearAfterClear},
		{"Reset", testReset},
		{"Expired", testExpired},
		{"ExpiredIsToldWhatChanges", testExpiredIsToldWhatChanges},
		{"ExpiredEnds", testExpiredEnds},
		{"RoomAndUsage", testRoomAndUsage},
		{"Correct", testCorrect},
		{"ScanOrder", testScanOrder},
		{"ScanOfManyKeys", testScanOfManyKeys},
		{"ScanFromAnywhere", testScanFromAnywhere},
		{"ScanWhileTheSlotChanges", testScanWhileTheSlotChanges},
		{"EqualPositions", testEqualPositions},
		{"Model", testModel},
		{"ConcurrentSlots", testConcurrentSlots},
		{"ScanSeesOneState", testScanSeesOneState},
		{"CommitCallsBackOnce", testCommitCallsBackOnce},
		{"CommitCoversEveryWrite", testCommitCoversEveryWrite},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			e := open(t)
			defer func() { require.NoError(t, e.Close()) }()
			tt.test(t, e)
		})
	}
	t.Run("Closed", func(t *testing.T) { testClosed(t, open(t)) })
	t.Run("LargeValues", func(t *testing.T) { testLargeValues(t, open) })
}

// lastSlot is the highest slot there is.
const lastSlot uint16 = engine.Slots - 1

// latest is above every version that the suite writes.
var latest = record.Version{Ballot: record.Ballot{Counter: math.MaxUint64, Incarnation: math.MaxUint64}, Seq: math.MaxUint64}

// version returns a version of a fixed ballot.
func version(seq uint64) record.Version {
	return record.Version{Ballot: record.Ballot{Counter: 7, Incarnation: record.NewIncarnation(99, 3)}, Seq: seq}
}

func text(seq uint64, value string) record.Record {
	return record.Record{Version: version(seq), State: record.State{Type: record.String, Value: []byte(value)}}
}

func tombstone(seq uint64) record.Record { return record.Record{Version: version(seq)} }

// randomBytes returns bytes that cannot be compressed, the same for each seed.
func randomBytes(seed uint64, n int) []byte {
	b := make([]byte, n)
	_, _ = rand.NewChaCha8([32]byte{byte(seed), byte(seed >> 8), byte(seed >> 16), byte(seed >> 24)}).Read(b)
	return b
}

func keyNumber(i int) []byte { return fmt.Appendf(nil, "key:%d", i) }

// keysWithOnePosition returns different keys with equal positions. XXH3 multiplies
// the first two words of a key, each xor-ed with a word of a secret; a first word
// that makes its factor zero makes the second one irrelevant.
func keysWithOnePosition(t require.TestingT, n int) [][]byte {
	const secret, seed = 0xbe4ba423396cfeb8, 0x51756f6c6c
	keys := make([][]byte, n)
	for i := range keys {
		key := make([]byte, 32)
		binary.LittleEndian.PutUint64(key, secret+seed)
		binary.LittleEndian.PutUint64(key[8:], uint64(i))
		keys[i] = key
		require.Equal(t, engine.PositionOf(keys[0]), engine.PositionOf(key))
	}
	return keys
}

// requireRecord requires that a key holds a record.
func requireRecord(t require.TestingT, e engine.Engine, slot uint16, key []byte, want record.Record) {
	got, found, err := e.Get(slot, key)
	require.NoError(t, err)
	if !found {
		require.Fail(t, "no record", "key %q", key)
	}
	requireEqual(t, key, want, got)
}

// requireMissing requires that a key has no record.
func requireMissing(t require.TestingT, e engine.Engine, slot uint16, key []byte) {
	got, found, err := e.Get(slot, key)
	require.NoError(t, err)
	require.False(t, found, "key %q", key)
	require.Equal(t, record.Record{}, got, "key %q", key)
}

// requireEqual requires that two records are equal, as far as an engine has to care:
// an empty value may be nil. It is called often, and require.Equal is slow.
func requireEqual[K string | []byte](t require.TestingT, key K, want, got record.Record) {
	if !equalRecords(want, got) {
		require.Equal(t, want, got, "key %q", key)
	}
}

func equalRecords(a, b record.Record) bool {
	return a.Version == b.Version && a.State.Type == b.State.Type &&
		a.State.ExpireAt == b.State.ExpireAt && bytes.Equal(a.State.Packed().Value, b.State.Packed().Value)
}

// requireContents requires that a slot holds these records and no others, as seen
// by Get, Scan, Stats and Leaves.
func requireContents(t require.TestingT, e engine.Engine, slot uint16, want map[string]record.Record) {
	for key, rec := range want {
		requireRecord(t, e, slot, []byte(key), rec)
	}
	requireCounted(t, e, slot, want)

	seen := map[string]bool{}
	for _, item := range scan(t, e, slot, 0, math.MaxInt) {
		rec, known := want[item.key]
		if !known || seen[item.key] {
			require.Fail(t, "scanned twice, or should not be there", "key %q", item.key)
		}
		seen[item.key] = true
		requireEqual(t, item.key, rec, item.rec)
	}
	require.Len(t, seen, len(want))
}

// requireCounted requires that Stats and Leaves say of a slot what these records add up to, and
// returns the stats.
func requireCounted(t require.TestingT, e engine.Engine, slot uint16, records map[string]record.Record) engine.SlotStats {
	var stats engine.SlotStats
	var leaves engine.Leaves
	for key, rec := range records {
		stats.Add([]byte(key), rec)
		leaves.Add(engine.PositionOf([]byte(key)), rec.Version)
	}
	got, err := e.Stats(slot)
	require.NoError(t, err)
	require.Equal(t, stats, got, fmt.Sprint("slot ", slot))
	parts, err := e.Leaves(slot)
	require.NoError(t, err)
	require.Equal(t, leaves, parts, fmt.Sprint("slot ", slot))
	require.Equal(t, got.Root(), parts.Root())
	return got
}

type item struct {
	pos engine.Position
	key string
	rec record.Record
}

// scan returns the records from a position on: at least n of them, if there are so
// many, and then the rest of those with the position of the last one. It checks
// order and positions.
func scan(t require.TestingT, e engine.Engine, slot uint16, from engine.Position, n int) []item {
	var items []item
	last := from
	err := e.Scan(slot, from, func(pos engine.Position, key []byte, rec record.Record) bool {
		if len(items) >= n && pos != last {
			return false
		}
		if pos != engine.PositionOf(key) || pos < last {
			require.Fail(t, "wrong position or order", "key %q at %#x after %#x", key, pos, last)
		}
		last = pos
		rec.State = rec.State.Keep()
		items = append(items, item{pos, string(key), rec})
		return true
	})
	require.NoError(t, err)
	return items
}

// put fills a slot with keys 0 to n-1 in versions 1 to n.
func put(t require.TestingT, e engine.Engine, slot uint16, n int) map[string]record.Record {
	contents := map[string]record.Record{}
	for i := range n {
		key, rec := keyNumber(i), text(uint64(i)+1, fmt.Sprint("value ", i))
		require.NoError(t, e.Put(slot, key, rec))
		contents[string(key)] = rec
	}
	return contents
}
