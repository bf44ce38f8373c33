package enginetest

import (
	"bytes"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

func testEmpty(t *testing.T, e engine.Engine) {
	for _, slot := range []uint16{0, 1, lastSlot} {
		meta, err := e.Slot(slot)
		require.NoError(t, err)
		require.Zero(t, meta)
		requireMissing(t, e, slot, []byte("key"))
		requireMissing(t, e, slot, nil)
		require.NoError(t, e.Delete(slot, []byte("key")))
		requireContents(t, e, slot, nil)
	}
	totals, err := e.Totals()
	require.NoError(t, err)
	require.Zero(t, totals)
}

func testSlotMeta(t *testing.T, e engine.Engine) {
	meta := record.SlotMeta{
		Epoch:    1<<63 + 5,
		Promised: record.Ballot{Counter: 1<<62 + 1, Incarnation: record.NewIncarnation(1<<47, 0xffff)},
		Floor:    version(1<<61 + 2),
		Cleared:  version(1<<60 + 3),
	}
	require.NoError(t, e.PutSlot(3, meta))
	requireMeta(t, e, 3, meta)
	requireMeta(t, e, 4, record.SlotMeta{})

	put(t, e, 3, 10)
	require.NoError(t, e.Delete(3, keyNumber(0)))
	requireMeta(t, e, 3, meta)

	meta.Epoch++
	require.NoError(t, e.PutSlot(3, meta))
	requireMeta(t, e, 3, meta)
	require.NoError(t, e.PutSlot(3, record.SlotMeta{}))
	requireMeta(t, e, 3, record.SlotMeta{})
}

func requireMeta(t require.TestingT, e engine.Engine, slot uint16, want record.SlotMeta) {
	got, err := e.Slot(slot)
	require.NoError(t, err)
	require.Equal(t, want, got)
}

func testPutGetDelete(t *testing.T, e engine.Engine) {
	key := []byte("key")
	first := text(1, "first")
	require.NoError(t, e.Put(1, key, first))
	copy(key, "xxx")
	key = []byte("key")
	requireRecord(t, e, 1, key, first)

	second := text(2, "a longer second value")
	second.State.ExpireAt = 1_900_000_000_000
	require.NoError(t, e.Put(1, key, second))
	requireContents(t, e, 1, map[string]record.Record{"key": second})

	older := text(1, "the engine does not compare versions")
	older.State.ExpireAt = -1
	require.NoError(t, e.Put(1, key, older))
	requireContents(t, e, 1, map[string]record.Record{"key": older})

	other := record.Record{Version: version(3), State: record.State{Type: 255, Value: []byte("unknown type")}}
	require.NoError(t, e.Put(1, key, other))
	requireContents(t, e, 1, map[string]record.Record{"key": other})

	require.NoError(t, e.Delete(1, []byte("another")))
	require.NoError(t, e.Delete(1, key))
	requireMissing(t, e, 1, key)
	requireContents(t, e, 1, nil)
	require.NoError(t, e.Delete(1, key))
	require.NoError(t, e.Put(1, key, first))
	requireContents(t, e, 1, map[string]record.Record{"key": first})
}

func testTombstones(t *testing.T, e engine.Engine) {
	key := []byte("key")
	require.NoError(t, e.Put(1, key, tombstone(1)))
	requireContents(t, e, 1, map[string]record.Record{"key": tombstone(1)})

	require.NoError(t, e.Put(1, key, text(2, "alive")))
	requireContents(t, e, 1, map[string]record.Record{"key": text(2, "alive")})

	require.NoError(t, e.Put(1, key, tombstone(3)))
	requireContents(t, e, 1, map[string]record.Record{"key": tombstone(3)})

	require.NoError(t, e.Delete(1, key))
	requireContents(t, e, 1, nil)
}

func testExtremeKeysAndValues(t *testing.T, e engine.Engine) {
	var everyByte []byte
	for b := range 256 {
		everyByte = append(everyByte, byte(b))
	}
	keys := []string{
		"", "\x00", "\x00\x00", "\xff", "\xff\xff", "a", "a\x00", "a\x00b", "a\xff", "\r\n",
		string(everyByte), string(bytes.Repeat([]byte("long"), 8<<10)),
	}
	values := []string{"", "\x00", "\xff", string(everyByte), string(bytes.Repeat(everyByte, 1<<10))}

	for i, value := range values {
		contents := map[string]record.Record{}
		for j, key := range keys {
			rec := text(uint64(i*len(keys)+j), value)
			require.NoError(t, e.Put(5, []byte(key), rec))
			contents[key] = rec
		}
		requireContents(t, e, 5, contents)
	}

	large := text(1, string(make([]byte, 8<<20)))
	require.NoError(t, e.Put(6, []byte("large"), large))
	requireContents(t, e, 6, map[string]record.Record{"large": large})
}

func testSlotsAreSeparate(t *testing.T, e engine.Engine) {
	slots := []uint16{0, 1, 255, 256, lastSlot}
	for i, slot := range slots {
		require.NoError(t, e.Put(slot, []byte("key"), text(uint64(i), fmt.Sprint(slot))))
		require.NoError(t, e.PutSlot(slot, record.SlotMeta{Epoch: uint64(slot)}))
	}
	require.NoError(t, e.Delete(1, []byte("key")))
	require.NoError(t, e.Clear(256, record.SlotMeta{Cleared: latest}))
	for i, slot := range slots {
		contents := map[string]record.Record{"key": text(uint64(i), fmt.Sprint(slot))}
		meta := record.SlotMeta{Epoch: uint64(slot)}
		if slot == 256 {
			meta = record.SlotMeta{Cleared: latest}
		}
		if slot == 1 || slot == 256 {
			contents = nil
		}
		requireContents(t, e, slot, contents)
		requireMeta(t, e, slot, meta)
	}
	totals, err := e.Totals()
	require.NoError(t, err)
	require.Equal(t, uint64(3), totals.Live)
}

func testSlotOutOfRange(t *testing.T, e engine.Engine) {
	for _, slot := range []uint16{engine.Slots, 1<<16 - 1} {
		for name, err := range calls(e, slot) {
			require.ErrorIs(t, err, engine.ErrSlot, name)
		}
	}
}

// calls makes every call that names a slot and returns their errors.
func calls(e engine.Engine, slot uint16) map[string]error {
	errs := map[string]error{
		"PutSlot": e.PutSlot(slot, record.SlotMeta{}),
		"Put":     e.Put(slot, []byte("key"), text(1, "value")),
		"Patch":   e.Patch(slot, []byte("key"), version(2), version(1), record.Patch{Bytes: []byte("v")}.Append(nil)),
		"Delete":  e.Delete(slot, []byte("key")),
		"Clear":   e.Clear(slot, record.SlotMeta{}),
		"Reset":   e.Reset(slot, record.SlotMeta{}),
		"Scan":    e.Scan(slot, 0, func(engine.Position, []byte, record.Record) bool { return true }),
	}
	_, errs["Expired"] = e.Expired(slot, math.MaxInt64, func([]byte) bool { return true })
	_, errs["Slot"] = e.Slot(slot)
	_, _, errs["Get"] = e.Get(slot, []byte("key"))
	_, errs["Stats"] = e.Stats(slot)
	_, errs["Leaves"] = e.Leaves(slot)
	return errs
}

func testValuesStayAsTheyWere(t *testing.T, e engine.Engine) {
	contents := put(t, e, 9, 200)
	for i := range 50 { // that are not borrowed
		rec := text(1, strings.Repeat(fmt.Sprint("long value ", i), record.CopiedValue))
		require.NoError(t, e.Put(9, keyNumber(4*i), rec))
		contents[string(keyNumber(4*i))] = rec
	}
	var got, scanned [][]byte
	var want []string
	for _, item := range scan(t, e, 9, 0, 200) {
		rec, found, err := e.Get(9, []byte(item.key))
		require.NoError(t, err)
		require.True(t, found)
		got = append(got, rec.State.Keep().Value)
		scanned = append(scanned, item.rec.State.Value)
		want = append(want, string(contents[item.key].State.Value))
	}

	for i := range 200 {
		switch key := keyNumber(i); i % 4 {
		case 0:
			require.NoError(t, e.Put(9, key, text(uint64(i)+1000, "VALUE "+fmt.Sprint(i))))
		case 1:
			require.NoError(t, e.Delete(9, key))
		case 2:
			require.NoError(t, e.Put(9, key, tombstone(uint64(i)+1000)))
		}
	}
	require.NoError(t, e.Clear(9, record.SlotMeta{Cleared: latest}))
	put(t, e, 9, 300)
	for i := range want {
		require.Equal(t, want[i], string(got[i]))
		require.Equal(t, want[i], string(scanned[i]))
	}

	// Appending to a value that was handed out must not write to what is stored.
	rec, _, err := e.Get(9, keyNumber(0))
	require.NoError(t, err)
	_ = append(rec.State.Value, "!"...)
	_ = append(rec.State.Value, "?"...)
	requireRecord(t, e, 9, keyNumber(0), text(1, "value 0"))
}

// Put copies what may be borrowed: from its caller, and from the engine itself, of this key or of others.
func testBorrowedValues(t *testing.T, e engine.Engine) {
	want := map[string]string{}
	seq := uint64(0)
	store := func(i int, value []byte) {
		seq++
		want[string(keyNumber(i))] = string(value)
		require.NoError(t, e.Put(9, keyNumber(i), record.Record{Version: version(seq), State: record.State{Type: record.String, Value: value}}))
	}
	for round := range 20 {
		for i := range 100 {
			value := bytes.Repeat([]byte{byte(i + round)}, (i*7+round*13)%(record.CopiedValue+1))
			store(i, value)
			clear(value)
			rec, found, err := e.Get(9, keyNumber((i+round)%100))
			require.NoError(t, err)
			if found {
				store((i+3*round)%100, rec.State.Value)
			}
		}
	}
	for key, value := range want {
		rec, _, err := e.Get(9, []byte(key))
		require.NoError(t, err)
		require.Equal(t, value, string(rec.State.Value))
	}
	require.Equal(t, len(want), len(scan(t, e, 9, 0, 1000)))
}

// testPatch: bytes are overwritten wherever they are, under a new version; what is around them, the expiry and the type stay.
func testPatch(t *testing.T, e engine.Engine) {
	seq := uint64(1)
	for size := 1; size <= record.CopiedValue; size += 1 + size/3 {
		key := keyNumber(size)
		want := text(seq, strings.Repeat("v", size))
		want.State.Type, want.State.ExpireAt = record.Hash, 1_900_000_000_000
		require.NoError(t, e.Put(2, key, want))
		require.NoError(t, e.Put(2, keyNumber(size-1), text(seq, strings.Repeat("n", size)))) // its neighbour
		for _, at := range []int{0, size / 2, size - 1} {
			p := record.Patch{At: at, Bytes: bytes.Repeat([]byte("p"), min(7, size-at))}
			delta, base := p.Append(nil), want.Version
			seq++
			want = record.Record{Version: version(seq), State: p.Of(want.State, nil)}
			require.NoError(t, e.Patch(2, key, want.Version, base, delta))
			clear(delta)
			requireRecord(t, e, 2, key, want)
		}
		requireContents(t, e, 2, map[string]record.Record{string(key): want, string(keyNumber(size - 1)): text(seq-3, strings.Repeat("n", size))})
		require.NoError(t, e.Delete(2, key))
		require.NoError(t, e.Delete(2, keyNumber(size-1)))
		seq++
	}
}

// testPatchOfAnotherRecord: what a patch is not of stays as it is.
func testPatchOfAnotherRecord(t *testing.T, e engine.Engine) {
	patch := record.Patch{At: 3, Bytes: []byte("pp")}.Append(nil)
	for name, rec := range map[string]record.Record{
		"short": text(1, "valu"), "deleted": tombstone(1), "shared": text(1, strings.Repeat("v", record.CopiedValue+1)),
	} {
		key := []byte(name)
		require.NoError(t, e.Put(2, key, rec))
		require.ErrorIs(t, e.Patch(2, key, version(2), version(1), patch), engine.ErrPatch, name)
		requireRecord(t, e, 2, key, rec)
	}
	require.ErrorIs(t, e.Patch(2, []byte("missing"), version(2), version(1), patch), engine.ErrPatch)
	requireMissing(t, e, 2, []byte("missing"))
	require.ErrorIs(t, e.Patch(3, []byte("missing"), version(2), version(1), patch), engine.ErrPatch, "of a slot that is empty")
	require.NoError(t, e.Put(2, []byte("key"), text(1, "value")))
	require.ErrorIs(t, e.Patch(2, []byte("key"), version(2), version(1), []byte("no patch")), engine.ErrPatch)
	requireRecord(t, e, 2, []byte("key"), text(1, "value"))
}
