package disk_test

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

// TestASlotThatCannotBeReadIsReset flips a byte of a value: the record cannot be read, nor its slot, until the slot
// is reset. What is put then is there, also after a restart, and nothing is left of the damaged record.
func TestASlotThatCannotBeReadIsReset(t *testing.T) {
	forEachKind(t, testASlotThatCannotBeReadIsReset)
}

func testASlotThatCannotBeReadIsReset(t *testing.T, k kind) {
	dir := k.dir(t.TempDir())
	value := bytes.Repeat([]byte("a rather long value "), 20_000)
	rec := record.Record{Version: record.Version{Seq: 7}, State: record.State{Type: record.String, Value: value}}
	e := openCalm(t, dir)
	require.NoError(t, e.Put(3, []byte("k"), rec))
	require.NoError(t, e.Put(3, []byte("other"), rec))
	require.NoError(t, e.Put(4, []byte("sound"), rec))
	require.NoError(t, e.Close())
	flipInside(t, dir, value[:1000])

	e = openCalm(t, dir)
	damaged := uint16(3)
	var err error
	for _, place := range []struct {
		slot uint16
		key  string
	}{{3, "k"}, {3, "other"}, {4, "sound"}} {
		if _, _, err = e.Get(place.slot, []byte(place.key)); err != nil {
			damaged = place.slot
			break
		}
	}
	require.ErrorIs(t, err, engine.ErrCorrupt)
	require.ErrorIs(t, e.Scan(damaged, 0, func(engine.Position, []byte, record.Record) bool { return true }), engine.ErrCorrupt)
	meta := record.SlotMeta{Epoch: 1, Rebuilding: true}
	require.NoError(t, e.Reset(damaged, meta))
	for range 3 {
		_, found, err := e.Get(damaged, []byte("k"))
		require.NoError(t, err)
		require.False(t, found)
		got, err := e.Slot(damaged)
		require.NoError(t, err)
		require.Equal(t, meta, got)
		require.NoError(t, e.Close())
		e = openCalm(t, dir)
	}
	require.NoError(t, e.Put(damaged, []byte("k"), rec))
	require.NoError(t, e.Put(damaged, []byte("other"), rec))
	require.NoError(t, e.PutSlot(damaged, record.SlotMeta{Epoch: 1}))
	for range 2 {
		for _, key := range []string{"k", "other"} {
			got, found, err := e.Get(damaged, []byte(key))
			require.NoError(t, err)
			require.True(t, found)
			require.Equal(t, rec, got)
		}
		stats, err := e.Stats(damaged)
		require.NoError(t, err)
		require.EqualValues(t, 2, stats.Live)
		if err := e.Maintain(); err != nil { // what is damaged is told, and not copied
			require.True(t, k.blocks, "%v", err)
			require.ErrorContains(t, err, "checksum mismatch")
		}
		require.NoError(t, e.Close())
		e = openCalm(t, dir)
	}
	require.LessOrEqual(t, e.LargeValues(), 3)
	require.NoError(t, e.Close())
}

// TestDamageIsReported: whoever asks, early or late, is told what the engine found when it read everything after its
// start.
func TestDamageIsReported(t *testing.T) {
	forEachKind(t, testDamageIsReported)
}

func testDamageIsReported(t *testing.T, k kind) {
	dir := k.dir(t.TempDir())
	value := bytes.Repeat([]byte("a rather long value "), 20_000)
	e := openCalm(t, dir)
	require.NoError(t, e.Put(3, []byte("k"), record.Record{Version: record.Version{Seq: 7}, State: record.State{Type: record.String, Value: value}}))
	require.NoError(t, e.Close())
	flipInside(t, dir, value[:1000])

	for _, late := range []bool{false, true} {
		e = openCalm(t, dir)
		if late {
			require.Eventually(t, func() bool { return e.Unreported() > 0 }, 10*time.Second, time.Millisecond)
		}
		found := make(chan error, 2)
		e.ReportDamage(func(slot uint16, err error) {
			if slot == 3 {
				found <- err
				return
			}
			require.True(t, k.blocks, "slot %d: %v", slot, err)
			require.ErrorIs(t, err, engine.ErrCorrupt)
		})
		require.ErrorIs(t, <-found, engine.ErrCorrupt)
		require.NoError(t, e.Close())
		require.Empty(t, found)
	}
}

// flipInside flips a bit in the middle of the only place of a store in which some bytes are first found.
func flipInside(t *testing.T, dir string, content []byte) {
	names, err := filepath.Glob(filepath.Join(dir, kindOf(dir).name, kindOf(dir).values))
	require.NoError(t, err)
	for _, name := range names {
		file, err := os.ReadFile(name)
		require.NoError(t, err)
		if at := bytes.Index(file, content); at >= 0 {
			file[at+len(content)/2] ^= 1
			require.NoError(t, os.WriteFile(name, file, 0o600))
			return
		}
	}
	t.Fatal("the value is in no file of the value log")
}
