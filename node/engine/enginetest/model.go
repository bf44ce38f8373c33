package enginetest

import (
	"bytes"
	"fmt"
	"maps"
	"math"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

// model is what a slot should hold.
type model struct {
	meta     record.SlotMeta
	contents map[string]record.Record
}

// machine drives an engine and a model of some of its slots with the same random
// calls.
type machine struct {
	engine engine.Engine
	keys   *rapid.Generator[[]byte]
	slots  map[uint16]*model
	// handedOut are values that the engine returned, each with a copy.
	handedOut map[*byte][2][]byte
}

func testModel(t *testing.T, e engine.Engine) {
	keys := rapid.OneOf(
		rapid.SliceOfN(rapid.Byte(), 0, 3),
		rapid.Map(rapid.IntRange(0, 300), keyNumber),
		rapid.SampledFrom(keysWithOnePosition(t, 50)),
	)
	rapid.Check(t, func(t *rapid.T) {
		m := &machine{engine: e, keys: keys, slots: map[uint16]*model{}, handedOut: map[*byte][2][]byte{}}
		for _, slot := range []uint16{0, 77, lastSlot} {
			m.slots[slot] = &model{contents: map[string]record.Record{}}
			require.NoError(t, e.Clear(slot, record.SlotMeta{Cleared: latest}))
			require.NoError(t, e.PutSlot(slot, record.SlotMeta{}))
		}
		t.Repeat(map[string]func(*rapid.T){
			"put":        m.put,
			"putMany":    m.putMany,
			"get":        m.get,
			"delete":     m.delete,
			"deleteMany": m.deleteMany,
			"clear":      m.clear,
			"putSlot":    m.putSlot,
			"scan":       m.scan,
			"":           m.check,
		})
		for _, value := range m.handedOut {
			require.Equal(t, value[1], value[0], "a value that was handed out changed")
		}
	})
}

func (m *machine) slot(t *rapid.T) (uint16, *model) {
	slot := rapid.SampledFrom([]uint16{0, 77, lastSlot}).Draw(t, "slot")
	return slot, m.slots[slot]
}

func drawVersion(t *rapid.T) record.Version {
	return record.Version{
		Ballot: record.Ballot{
			Counter:     rapid.Uint64Range(0, 3).Draw(t, "counter"),
			Incarnation: rapid.Uint64Range(0, 3).Draw(t, "incarnation"),
		},
		Seq: rapid.Uint64Range(0, 100).Draw(t, "seq"),
	}
}

func drawRecord(t *rapid.T) record.Record {
	rec := record.Record{Version: drawVersion(t)}
	if rapid.IntRange(0, 3).Draw(t, "tombstone") > 0 {
		rec.State = record.State{
			Type:     record.String,
			ExpireAt: rapid.Int64().Draw(t, "expire"),
			Value:    rapid.SliceOfN(rapid.Byte(), 0, 40).Draw(t, "value"),
		}
	}
	return rec
}

func (m *machine) put(t *rapid.T) {
	slot, model := m.slot(t)
	key, rec := m.keys.Draw(t, "key"), drawRecord(t)
	model.contents[string(key)] = rec
	require.NoError(t, m.engine.Put(slot, key, rec))
}

func (m *machine) putMany(t *rapid.T) {
	slot, model := m.slot(t)
	rec := drawRecord(t)
	first := rapid.IntRange(0, 300).Draw(t, "first")
	for i := range rapid.IntRange(0, 300).Draw(t, "count") {
		key := keyNumber(first + i)
		rec.Version.Seq++
		model.contents[string(key)] = rec
		require.NoError(t, m.engine.Put(slot, key, rec))
	}
}

func (m *machine) get(t *rapid.T) {
	slot, model := m.slot(t)
	key := m.keys.Draw(t, "key")
	want, found := model.contents[string(key)]
	if !found {
		requireMissing(t, m.engine, slot, key)
		return
	}
	requireRecord(t, m.engine, slot, key, want)
	rec, _, err := m.engine.Get(slot, key)
	require.NoError(t, err)
	if value := rec.State.Value; len(value) > 0 {
		m.handedOut[&value[0]] = [2][]byte{value, bytes.Clone(value)}
	}
}

func (m *machine) delete(t *rapid.T) {
	slot, model := m.slot(t)
	key := m.keys.Draw(t, "key")
	delete(model.contents, string(key))
	require.NoError(t, m.engine.Delete(slot, key))
}

func (m *machine) deleteMany(t *rapid.T) {
	slot, model := m.slot(t)
	first := rapid.IntRange(0, 300).Draw(t, "first")
	for i := range rapid.IntRange(0, 600).Draw(t, "count") {
		key := keyNumber(first + i)
		delete(model.contents, string(key))
		require.NoError(t, m.engine.Delete(slot, key))
	}
}

func (m *machine) clear(t *rapid.T) {
	slot, model := m.slot(t)
	model.meta.Cleared = drawVersion(t)
	maps.DeleteFunc(model.contents, func(_ string, rec record.Record) bool {
		return !model.meta.Cleared.Less(rec.Version)
	})
	require.NoError(t, m.engine.Clear(slot, model.meta))
}

func (m *machine) putSlot(t *rapid.T) {
	slot, model := m.slot(t)
	model.meta = record.SlotMeta{
		Epoch: rapid.Uint64().Draw(t, "epoch"), Promised: drawVersion(t).Ballot, Floor: drawVersion(t), Cleared: drawVersion(t),
	}
	require.NoError(t, m.engine.PutSlot(slot, model.meta))
}

func (m *machine) scan(t *rapid.T) {
	slot, model := m.slot(t)
	from := engine.Position(rapid.Uint64Range(0, uint64(engine.EndPosition)).Draw(t, "from"))
	want := 0
	for key := range model.contents {
		if engine.PositionOf([]byte(key)) >= from {
			want++
		}
	}
	require.Len(t, scan(t, m.engine, slot, from, math.MaxInt), want)
}

// check compares stats after every call, and contents too, which takes longer,
// unless a slot is large.
func (m *machine) check(t *rapid.T) {
	var sum engine.SlotStats
	for slot, model := range m.slots {
		var want engine.SlotStats
		for key, rec := range model.contents {
			want.Add([]byte(key), rec)
		}
		got, err := m.engine.Stats(slot)
		require.NoError(t, err)
		require.Equal(t, want, got, fmt.Sprint("slot ", slot))
		requireMeta(t, m.engine, slot, model.meta)
		if len(model.contents) < 50 {
			requireContents(t, m.engine, slot, model.contents)
		}
		sum.Merge(got)
	}
	totals, err := m.engine.Totals()
	require.NoError(t, err)
	require.Equal(t, sum, totals)
}
