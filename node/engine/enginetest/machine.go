package enginetest

import (
	"bytes"
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

// modelSlots are the slots that machines work on.
var modelSlots = []uint16{0, 77, lastSlot}

// machine drives an engine and a model of some of its slots with the same random
// calls.
type machine struct {
	engine engine.Engine
	keys   *rapid.Generator[[]byte]
	model  model
	// staged are the changes that the engine took, in their order.
	staged []change
	// handedOut are values that the engine returned for good, each with a copy.
	handedOut map[*byte][2][]byte
}

func newMachine(t require.TestingT, e engine.Engine) *machine {
	return &machine{
		engine: e,
		keys: rapid.OneOf(
			rapid.SliceOfN(rapid.Byte(), 0, 3),
			rapid.Map(rapid.IntRange(0, 300), keyNumber),
			rapid.Map(rapid.IntRange(0, 60), func(i int) []byte { return database.ID(i % database.IDs).Key(keyNumber(i / 20)) }),
			rapid.Just([]byte(database.Prefix+"own")),
			rapid.SampledFrom(keysWithOnePosition(t, 50)),
		),
		model:     newModel(modelSlots),
		handedOut: map[*byte][2][]byte{},
	}
}

func testModel(t *testing.T, e engine.Engine) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(t, e)
		for _, slot := range modelSlots {
			require.NoError(t, e.Clear(slot, record.SlotMeta{Cleared: latest}))
			require.NoError(t, e.PutSlot(slot, record.SlotMeta{}))
		}
		t.Repeat(m.actions())
		m.checkHandedOut(t)
	})
}

func (m *machine) actions() map[string]func(*rapid.T) {
	return map[string]func(*rapid.T){
		"put":        m.put,
		"putMany":    m.putMany,
		"change":     m.change,
		"patch":      m.patch,
		"get":        m.get,
		"delete":     m.delete,
		"deleteMany": m.deleteMany,
		"clear":      m.clear,
		"reset":      m.reset,
		"putSlot":    m.putSlot,
		"scan":       m.scan,
		"expired":    m.expired,
		"":           m.check,
	}
}

// patch overwrites some bytes of a short value.
func (m *machine) patch(t *rapid.T) {
	slot := drawSlot(t)
	contents := m.model[slot].contents
	keys := slices.DeleteFunc(slices.Sorted(maps.Keys(contents)), func(key string) bool {
		st := contents[key].State
		return !st.Live() || st.Object != nil || len(st.Value) > record.CopiedValue
	})
	if len(keys) == 0 {
		return
	}
	key := rapid.SampledFrom(keys).Draw(t, "key")
	rec := contents[key]
	at := rapid.IntRange(0, len(rec.State.Value)).Draw(t, "at")
	p := record.Patch{At: at, Bytes: rapid.SliceOfN(rapid.Byte(), 0, len(rec.State.Value)-at).Draw(t, "bytes")}
	c := change{kind: patchRecord, slot: slot, key: []byte(key), base: rec.Version, delta: p.Append(nil)}
	c.rec = record.Record{Version: rec.Version, State: p.Of(rec.State, nil)}
	c.rec.Version.Seq++
	m.stage(t, c)
}

// stage makes a change in the engine and in the model.
func (m *machine) stage(t require.TestingT, c change) {
	c.apply(m.model)
	m.staged = append(m.staged, c)
	require.NoError(t, c.stage(m.engine))
}

func drawSlot(t *rapid.T) uint16 { return rapid.SampledFrom(modelSlots).Draw(t, "slot") }

func drawVersion(t *rapid.T) record.Version {
	return record.Version{
		Ballot: record.Ballot{
			Counter:     rapid.Uint64Range(0, 3).Draw(t, "counter"),
			Incarnation: rapid.Uint64Range(0, 3).Draw(t, "incarnation"),
		},
		Seq: rapid.Uint64Range(0, 100).Draw(t, "seq"),
	}
}

// drawTime returns an expiry or a time to compare it with: mostly few, so that they
// meet.
func drawTime(t *rapid.T) int64 {
	return rapid.OneOf(rapid.Int64Range(-2, 20), rapid.Int64()).Draw(t, "time")
}

// longValues are values that are not borrowed.
var longValues = rapid.Map(rapid.Byte(), func(b byte) []byte { return bytes.Repeat([]byte{b}, record.CopiedValue+1+int(b)) })

func drawRecord(t *rapid.T) record.Record {
	rec := record.Record{Version: drawVersion(t)}
	if rapid.IntRange(0, 3).Draw(t, "tombstone") > 0 {
		rec.State = record.State{
			Type:     record.String,
			ExpireAt: drawTime(t),
			Value:    rapid.OneOf(rapid.SliceOfN(rapid.Byte(), 0, 40), longValues).Draw(t, "value"),
		}
		if rapid.IntRange(0, 3).Draw(t, "object") == 0 {
			rec.State.Type = rapid.SampledFrom(objects).Draw(t, "type")
			rec.State, _ = Live(rec.State)
		}
	}
	return rec
}

// change changes what a key has, a few times.
func (m *machine) change(t *rapid.T) {
	slot := drawSlot(t)
	contents := m.model[slot].contents
	keys := slices.DeleteFunc(slices.Sorted(maps.Keys(contents)), func(key string) bool { return !contents[key].State.Live() })
	if len(keys) == 0 {
		return
	}
	key := rapid.SampledFrom(keys).Draw(t, "key")
	for range rapid.IntRange(1, 3).Draw(t, "changes") {
		rec, delta := contents[key], rapid.SliceOfN(rapid.Byte(), 0, 20).Draw(t, "delta")
		c := change{kind: changeRecord, slot: slot, key: []byte(key), base: rec.Version, delta: delta}
		c.rec.State, _ = Apply(rec.State, delta)
		c.rec.State.ExpireAt = drawTime(t)
		c.rec.Version = rec.Version
		c.rec.Version.Seq++
		m.stage(t, c)
	}
}

func (m *machine) put(t *rapid.T) {
	m.stage(t, change{kind: putRecord, slot: drawSlot(t), key: m.keys.Draw(t, "key"), rec: drawRecord(t)})
}

func (m *machine) putMany(t *rapid.T) {
	slot, rec := drawSlot(t), drawRecord(t)
	first := rapid.IntRange(0, 300).Draw(t, "first")
	for i := range rapid.IntRange(0, 300).Draw(t, "count") {
		rec.Version.Seq++
		m.stage(t, change{kind: putRecord, slot: slot, key: keyNumber(first + i), rec: rec})
	}
}

func (m *machine) delete(t *rapid.T) {
	m.stage(t, change{kind: deleteRecord, slot: drawSlot(t), key: m.keys.Draw(t, "key")})
}

func (m *machine) deleteMany(t *rapid.T) {
	slot := drawSlot(t)
	first := rapid.IntRange(0, 300).Draw(t, "first")
	for i := range rapid.IntRange(0, 600).Draw(t, "count") {
		m.stage(t, change{kind: deleteRecord, slot: slot, key: keyNumber(first + i)})
	}
}

func (m *machine) clear(t *rapid.T) {
	slot := drawSlot(t)
	meta := m.model[slot].meta
	meta.Cleared = drawVersion(t)
	m.stage(t, change{kind: clearSlot, slot: slot, meta: meta})
}

func (m *machine) reset(t *rapid.T) {
	m.stage(t, change{kind: resetSlot, slot: drawSlot(t), meta: record.SlotMeta{Cleared: drawVersion(t), Rebuilding: rapid.Bool().Draw(t, "rebuilding")}})
}

func (m *machine) putSlot(t *rapid.T) {
	m.stage(t, change{kind: putMeta, slot: drawSlot(t), meta: record.SlotMeta{
		Epoch: rapid.Uint64().Draw(t, "epoch"), Promised: drawVersion(t).Ballot, Floor: drawVersion(t), Cleared: drawVersion(t),
		Rebuilding: rapid.Bool().Draw(t, "rebuilding"), Unsure: rapid.Bool().Draw(t, "unsure"),
	}})
}

func (m *machine) get(t *rapid.T) {
	slot, key := drawSlot(t), m.keys.Draw(t, "key")
	want, found := m.model[slot].contents[string(key)]
	if !found {
		requireMissing(t, m.engine, slot, key)
		return
	}
	requireRecord(t, m.engine, slot, key, want)
	rec, _, err := m.engine.Get(slot, key)
	require.NoError(t, err)
	if value := rec.State.Value; len(value) > record.CopiedValue {
		m.handedOut[&value[0]] = [2][]byte{value, bytes.Clone(value)}
	}
}

func (m *machine) scan(t *rapid.T) {
	slot := drawSlot(t)
	from := engine.Position(rapid.Uint64Range(0, uint64(engine.EndPosition)).Draw(t, "from"))
	want := 0
	for key := range m.model[slot].contents {
		if engine.PositionOf([]byte(key)) >= from {
			want++
		}
	}
	require.Len(t, scan(t, m.engine, slot, from, math.MaxInt), want)
}

func (m *machine) expired(t *rapid.T) {
	slot, now := drawSlot(t), drawTime(t)
	requireExpired(t, m.engine, slot, now, m.model[slot].contents)
}

// check compares stats after every call, and contents too, which takes longer,
// unless a slot is large.
func (m *machine) check(t *rapid.T) { m.model.requireIn(t, m.engine, 50) }

func (m *machine) checkHandedOut(t require.TestingT) {
	for _, value := range m.handedOut {
		require.Equal(t, value[1], value[0], "a value that was handed out changed")
	}
}
