package disk

import (
	"context"
	"fmt"
	"io"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/enginetest"
)

// partsSlot is the slot that these tests use.
const partsSlot = 7

// hashes drives an engine on a fake store with commands on hashes, and knows what the keys should hold.
type hashes struct {
	t      require.TestingT
	dir    string
	store  *fakeStore
	engine *Engine
	random *rand.Rand
	seq    uint64
	model  map[string]record.Record // with values as bytes
	// flushed is what the model was at the last flush, former are states of before.
	flushed map[string]record.Record
	former  []former
	// lists: what the keys have are lists.
	lists bool
	// crowded: there is no room in memory, so that nothing stays there which the store has, and no part that was only come by.
	crowded bool
}

// former is a state of before, and its value.
type former struct {
	state record.State
	value string
}

func newHashes(t require.TestingT, dir string, seed uint64) *hashes {
	h := &hashes{t: t, dir: dir, store: &fakeStore{data: map[string][]byte{}}, random: rand.New(rand.NewPCG(seed, 1)),
		model: map[string]record.Record{}, flushed: map[string]record.Record{}}
	h.engine = openFake(t, dir, h.store)
	return h
}

// run executes a command, as a node does.
func (h *hashes) run(op command.Op, args ...string) {
	req := &command.Request{Op: op, Args: [][]byte{[]byte("command")}, Random: h.random.Uint64()}
	for _, arg := range args {
		req.Args = append(req.Args, []byte(arg))
	}
	key := req.Args[1]
	old, _, err := h.engine.Get(partsSlot, key)
	require.NoError(h.t, err)
	_, eff := datatype.Execute(nil, old.State, req, 1)
	if eff.Kind == record.Unchanged {
		return
	}
	rec := h.next(eff.Whole())
	if eff.Kind == record.Changed {
		err = h.engine.Change(partsSlot, key, rec, old.Version, eff.Delta)
	} else {
		err = h.engine.Put(partsSlot, key, rec)
	}
	require.NoError(h.t, err)
	h.model[string(key)] = rec
}

// pack makes bytes of what the model has: an object may be read from the store when it is looked at.
func (h *hashes) pack() {
	for key, rec := range h.model {
		rec.State = rec.State.Packed()
		h.model[key] = rec
	}
}

func (h *hashes) next(st record.State) record.Record {
	h.seq++
	st.Value = slices.Clone(st.Value)
	return record.Record{Version: record.Version{Seq: h.seq}, State: st}
}

// fill sets many fields.
func (h *hashes) fill(key string, fields int) {
	if h.lists {
		h.fillList(key, fields)
		return
	}
	args := []string{key}
	for i := range fields {
		args = append(args, fmt.Sprint("field", i), h.value())
	}
	h.run(command.OpHSet, args...)
}

func (h *hashes) value() string { return strings.Repeat("v", h.random.IntN(200)) }

// change makes a few changes of a hash.
func (h *hashes) change(key string, most int) {
	for range 1 + h.random.IntN(most) {
		if h.lists {
			h.changeList(key)
			continue
		}
		field := fmt.Sprint("field", h.random.IntN(1500))
		if h.random.IntN(3) == 0 {
			h.run(command.OpHDel, key, field)
		} else {
			h.run(command.OpHSet, key, field, h.value())
		}
	}
	h.keepFormer(key)
}

// keepFormer keeps what a key has, which may be read from the store when it is looked at.
func (h *hashes) keepFormer(key string) {
	rec, _, err := h.engine.Get(partsSlot, []byte(key))
	require.NoError(h.t, err)
	h.pack()
	h.former = append(h.former, former{rec.State.Keep(), string(h.model[key].State.Value)})
}

// checkFormer requires that what keys had before is still what it was.
func (h *hashes) checkFormer() {
	for _, was := range h.former {
		require.Equal(h.t, was.value, string(was.state.Packed().Value), "a former version has changed")
	}
}

// dropFormer forgets what keys had before, and waits until the collector has taken it.
func (h *hashes) dropFormer() {
	h.former = nil
	h.collect()
}

// collect waits until the collector has taken what nobody has.
func (h *hashes) collect() {
	h.pack()
	for range 2 {
		runtime.GC()
	}
}

// crowd says whether there is room in memory.
func (h *hashes) crowd(crowded bool) {
	if h.crowded = crowded; crowded {
		h.engine.memory.Add(h.engine.opt.Cache)
	}
}

// look compares what some fields of a hash are with what they should be.
func (h *hashes) look(key string) {
	rec, _, err := h.engine.Get(partsSlot, []byte(key))
	require.NoError(h.t, err)
	for range 5 {
		req := &command.Request{Op: command.OpHGet, Args: [][]byte{nil, []byte(key), fmt.Append(nil, "field", h.random.IntN(1500))}}
		if h.lists {
			req = &command.Request{Op: command.OpLIndex, Args: [][]byte{nil, []byte(key), fmt.Append(nil, h.random.IntN(1500))}}
		}
		got, _ := datatype.Execute(nil, rec.State, req, 1)
		want, _ := datatype.Execute(nil, h.model[key].State, req, 1)
		require.Equal(h.t, string(want), string(got))
	}
}

// evict takes out of memory what the store has.
func (h *hashes) evict() {
	h.pack()
	h.engine.Evict(partsSlot)
}

// putFormer gives a key what some key had before.
func (h *hashes) putFormer(key string) {
	if len(h.former) > 0 {
		h.put(key, h.former[h.random.IntN(len(h.former))].state)
	}
}

func (h *hashes) put(key string, st record.State) {
	rec := h.next(st)
	require.NoError(h.t, h.engine.Put(partsSlot, []byte(key), rec))
	h.model[key] = rec
}

// flush writes what has changed to the store, and looks at what a crash would have left after each write: every record as it was
// at the flush before, or as it is now.
func (h *hashes) flush() {
	h.pack()
	before := h.store.writes()
	require.NoError(h.t, h.engine.FlushOnly())
	left := h.store.after(before)
	requireModel(h.t, left, h.model, h.flushed)
	for _, o := range h.store.log[before:] {
		left.add(o)
		requireModel(h.t, left, h.model, h.flushed)
	}
	h.flushed = maps.Clone(h.model)
	requireModel(h.t, left, h.model, h.model)
}

// flushUntil is flush with a store that is full after some writes. What it has taken until then stays, and the rest is tried again later.
func (h *hashes) flushUntil(writes int) {
	h.pack()
	h.store.setFull(true, writes)
	err := h.engine.FlushOnly()
	h.store.setFull(false, 0)
	if err != nil {
		require.ErrorIs(h.t, err, engine.ErrFull)
	}
	left := h.store.after(h.store.writes())
	requireModel(h.t, left, h.model, h.flushed)
	h.flushed = stored(h.t, left)
}

// requireModel requires that a store holds the records of one of two models.
func requireModel(t require.TestingT, store *fakeStore, one, other map[string]record.Record) {
	found := stored(t, store)
	for key, rec := range found {
		want := one[key]
		if rec.Version != want.Version {
			want = other[key]
		}
		require.Equal(t, want.Version, rec.Version)
		require.Equal(t, string(want.State.Value), string(rec.State.Value), "a crash leaves a mixture of two versions")
	}
	for key := range one {
		if _, both := other[key]; both {
			require.Contains(t, found, key, "a crash leaves nothing of a key")
		}
	}
}

// stored returns the records of a store, as an engine would read them.
func stored(t require.TestingT, store *fakeStore) map[string]record.Record {
	e := &Engine{store: store, opt: Options{Assemble: datatype.Assemble, LazyFrom: 1 << 40}}
	all := map[string]record.Record{}
	for _, at := range store.keys(appendGeneration(nil, partsSlot, 0)) {
		value, _, _ := store.Get([]byte(at))
		key, rec, err := e.readRecord(store, []byte(at), value)
		require.NoError(t, err, "a crash leaves a record that cannot be read")
		rec.State = rec.State.Packed()
		all[string(key)] = rec
	}
	return all
}

// crash ends the engine after some writes of the last flush, and opens what is left, with the journal.
func (h *hashes) crash(writes int) {
	require.NoError(h.t, commitNow(h.engine))
	dir := filepath.Join(h.dir, fmt.Sprint("life", h.seq, "-", writes))
	h.copyJournal(dir)
	h.close()
	h.store, h.dir = h.store.after(writes), dir
	h.engine = openFake(h.t, dir, h.store)
	h.crowd(h.crowded)
	h.check()
	h.former = nil
	h.flushed = stored(h.t, h.store)
}

func (h *hashes) copyJournal(dir string) {
	require.NoError(h.t, os.MkdirAll(dir, 0o700))
	require.NoError(h.t, enginetest.Freeze(filepath.Join(h.dir, "journal"), filepath.Join(dir, "journal")))
}

func commitNow(e *Engine) error {
	done := make(chan error, 1)
	e.Commit(func(err error) { done <- err })
	return <-done
}

// close closes the engine. Nobody looks at what it writes then.
func (h *hashes) close() {
	used, writes := h.store, h.store.writes()
	used.setFull(false, 0)
	require.NoError(h.t, h.engine.Close())
	h.store = used.after(writes)
}

// check requires that the engine has what it should.
func (h *hashes) check() {
	h.pack()
	for key, want := range h.model {
		got, found, err := h.engine.Get(partsSlot, []byte(key))
		require.NoError(h.t, err)
		require.True(h.t, found)
		require.Equal(h.t, want.Version, got.Version)
		require.Equal(h.t, string(want.State.Value), string(got.State.Packed().Value))
	}
}

// sweep sweeps all there is, and requires that no part is left that no record has.
func (h *hashes) sweep() {
	h.sweepStrays()
	h.requireNamed()
}

// requireNamed requires that no part is left that no record has.
func (h *hashes) requireNamed() {
	named := map[string]bool{}
	for key := range h.model {
		at := appendKey(nil, partsSlot, h.engine.slots[partsSlot].generation, engine.PositionOf([]byte(key)), []byte(key))
		away, err := elsewhereIn(h.store, at)
		require.NoError(h.t, err)
		if away.parts.object != 0 {
			h.notePlaces(named, at, record.Place{Object: away.parts.object, Part: away.parts.root})
		}
	}
	for _, key := range h.store.keys(partsPrefix) {
		require.True(h.t, named[key], "a part is left that no record has")
	}
}

// sweepStrays looks at all parts.
func (h *hashes) sweepStrays() {
	for first := true; first || h.engine.straysFrom != nil; first = false {
		h.engine.straysRest = 0
		require.NoError(h.t, h.engine.sweepParts(context.Background()))
	}
}

func (h *hashes) notePlaces(named map[string]bool, at []byte, p record.Place) {
	named[string(partKey(at, p))] = true
	b, _, err := readPart(h.store, at, p)
	require.NoError(h.t, err)
	for _, number := range b.parts {
		h.notePlaces(named, at, record.Place{Object: p.Object, Part: number})
	}
}

// TestACrashAtEveryWrite: whatever is done to hashes, or to lists, after each write of each flush the store has every record at one version, whole; and
// an engine that is opened on that has all that was committed.
func TestACrashAtEveryWrite(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dir, err := os.MkdirTemp("", "parts")
		require.NoError(t, err)
		defer os.RemoveAll(dir)
		h := newHashes(t, dir, rapid.Uint64().Draw(t, "seed"))
		h.lists = rapid.Bool().Draw(t, "lists")
		h.crowd(rapid.Bool().Draw(t, "crowded"))
		keys := rapid.SampledFrom([]string{"a", "b", "c"})
		t.Repeat(map[string]func(*rapid.T){
			"fill":   func(t *rapid.T) { h.fill(keys.Draw(t, "key"), rapid.IntRange(1, 1500).Draw(t, "fields")) },
			"few":    func(t *rapid.T) { h.change(keys.Draw(t, "key"), 5) },
			"many":   func(t *rapid.T) { h.change(keys.Draw(t, "key"), 300) },
			"expire": func(t *rapid.T) { h.run(command.OpExpireAt, keys.Draw(t, "key"), "99999") },
			"string": func(t *rapid.T) {
				h.run(command.OpSet, keys.Draw(t, "key"), strings.Repeat("x", rapid.IntRange(0, 5000).Draw(t, "size")))
			},
			"range": func(t *rapid.T) {
				at := rapid.IntRange(0, 60_000).Draw(t, "at")
				h.run(command.OpSetRange, keys.Draw(t, "key"), fmt.Sprint(at), strings.Repeat("r", rapid.IntRange(1, 3000).Draw(t, "size")))
			},
			"append": func(t *rapid.T) {
				h.run(command.OpAppend, keys.Draw(t, "key"), strings.Repeat("a", rapid.IntRange(1, 20_000).Draw(t, "size")))
			},
			"former": func(t *rapid.T) { h.putFormer(keys.Draw(t, "key")) },
			"del":    func(t *rapid.T) { h.run(command.OpDel, keys.Draw(t, "key")) },
			"remove": func(t *rapid.T) {
				key := keys.Draw(t, "key")
				require.NoError(t, h.engine.Delete(partsSlot, []byte(key)))
				delete(h.model, key)
			},
			"flush": func(*rapid.T) { h.flush() },
			"look":  func(t *rapid.T) { h.look(keys.Draw(t, "key")) },
			"evict": func(*rapid.T) { h.evict() },
			"keep":  func(t *rapid.T) { h.keepFormer(keys.Draw(t, "key")) },
			"drop":  func(*rapid.T) { h.dropFormer() },
			"full":  func(t *rapid.T) { h.flushUntil(rapid.IntRange(0, 60).Draw(t, "writes")) },
			"sweep": func(*rapid.T) {
				require.NoError(t, h.engine.sweepParts(context.Background()))
				h.checkFormer()
			},
			"crash": func(t *rapid.T) {
				before := h.store.writes()
				h.flush()
				h.crash(rapid.IntRange(before, h.store.writes()).Draw(t, "writes"))
			},
			"check": func(*rapid.T) { h.check() },
		})
		h.checkFormer()
		h.flush()
		h.dropFormer()
		h.sweep()
		h.close()
	})
}

// TestEveryCrashLeavesOneVersion is TestACrashAtEveryWrite with what is known to matter.
func TestEveryCrashLeavesOneVersion(t *testing.T) {
	h := newHashes(t, t.TempDir(), 1)
	fields := 2000
	if testing.Short() {
		fields = 700
	}
	h.fill("a", fields)
	h.fill("b", 300)
	h.flush()
	for round := range 4 {
		h.change("a", 50)
		h.change("b", 5)
		h.flush()
		h.keepFormer("a") // in the store, as its parts say
		was := h.former[len(h.former)-1].state
		h.change("a", 50)
		h.flush()
		h.put("a", was)
		h.flushUntil(10 * round)
		h.change("a", 50)
		before := h.store.writes()
		h.flush()
		h.crash(before + (h.store.writes()-before)*round/3)
		h.sweep()
	}
	h.close()
}

// TestASmallChangeWritesLittle: of a hash with 20,000 fields three parts and the head, and what they replace is removed.
func TestASmallChangeWritesLittle(t *testing.T) {
	h := newHashes(t, t.TempDir(), 1)
	defer h.close()
	h.fill("a", 20_000)
	require.NoError(t, h.engine.FlushOnly())
	all := len(h.store.keys(partsPrefix))
	require.Greater(t, all, 200)
	for range 20 {
		before := h.store.writes()
		h.run(command.OpHSet, "a", fmt.Sprint("field", h.random.IntN(20_000)), "new")
		require.NoError(t, h.engine.FlushOnly())
		size, heads, set, removed := 0, 0, 0, 0
		for _, o := range h.store.log[before:] {
			size += len(o.value)
			switch {
			case !strings.HasPrefix(string(o.key), string(partsPrefix)):
				heads++
			case o.value == nil:
				removed++
			default:
				set++
			}
		}
		require.Equal(t, 1, heads)
		require.InDelta(t, set, removed, 2)
		require.LessOrEqual(t, set, 6)
		require.Less(t, size, 12<<10, "a small change writes much")
	}
	require.InDelta(t, all, len(h.store.keys(partsPrefix)), 10, "what is obsolete is not removed")
}

// TestAPartThatCannotBeRead makes its record unreadable, never absent, and nothing that is below it is swept away. What is written of the hash then is whole.
func TestAPartThatCannotBeRead(t *testing.T) {
	for what, change := range map[string]func([]byte) []byte{
		"flipped": func(value []byte) []byte { value[len(value)/2] ^= 1; return value },
		"cut":     func(value []byte) []byte { return value[:len(value)-1] },
		"gone":    func([]byte) []byte { return nil },
	} {
		t.Run(what, func(t *testing.T) {
			h := newHashes(t, t.TempDir(), 1)
			h.fill("a", 5000)
			require.NoError(t, h.engine.Flush())
			parts := h.store.keys(partsPrefix)
			for i := 0; i < len(parts); i += 7 {
				damaged := h.store.after(h.store.writes())
				damaged.spoil(parts[len(parts)-1-i], change) // the root is the last one
				dir := t.TempDir()
				h.copyJournal(dir)
				e := openFake(t, dir, damaged)
				rec, _, err := e.Get(partsSlot, []byte("a"))
				if err == nil {
					_, err = io.Copy(io.Discard, rec.State.Reader())
				}
				require.ErrorIs(t, err, engine.ErrCorrupt, "a part that cannot be read is taken for a value")
				left := len(damaged.keys(partsPrefix))
				require.NoError(t, e.sweepParts(context.Background()))
				require.Len(t, damaged.keys(partsPrefix), left, "what is below a damaged part is removed")
				require.NoError(t, e.Close())
			}
			h.store.spoil(parts[len(parts)-1], change)
			h.run(command.OpHSet, "a", "field7", "new")
			h.pack()
			require.NoError(t, h.engine.FlushOnly())
			requireModel(t, h.store, h.model, h.model)
			h.sweep()
			h.close()
		})
	}
}

// TestObjectsOfBefore are in the store as a whole. They are read, and the first change puts them in parts.
func TestObjectsOfBefore(t *testing.T) {
	h := newHashes(t, t.TempDir(), 1)
	h.engine.opt.PartsFrom = 1 << 40
	h.fill("a", 3000)
	require.NoError(t, h.engine.FlushOnly())
	require.Empty(t, h.store.keys(partsPrefix))
	h.flushed = maps.Clone(h.model)
	version, _, err := h.engine.marked(markFormat)
	require.NoError(t, err)
	require.EqualValues(t, format, version)
	h.crash(h.store.writes())
	h.run(command.OpHSet, "a", "field7", "new")
	h.flush()
	require.NotEmpty(t, h.store.keys(partsPrefix))
	require.Empty(t, h.store.keys(largePrefix), "the whole is left")
	version, _, err = h.engine.marked(markFormat)
	require.NoError(t, err)
	require.EqualValues(t, formatParts, version, "an earlier version would take the head for a value")
	h.crash(h.store.writes())
	h.close()
}

// TestASmallChangeOfALongString writes a part of it, and the way there.
func TestASmallChangeOfALongString(t *testing.T) {
	h := newHashes(t, t.TempDir(), 1)
	h.engine.opt.PartsFrom = 16 << 10
	h.run(command.OpSet, "a", strings.Repeat("x", 10<<20))
	h.run(command.OpSetRange, "a", "7", "in parts")
	require.NoError(t, h.engine.FlushOnly())
	before := h.store.writes()
	h.run(command.OpSetRange, "a", "5000000", "0123456789")
	h.flushed = map[string]record.Record{}
	h.pack()
	require.NoError(t, h.engine.FlushOnly())
	size := 0
	for _, o := range h.store.log[before:] {
		size += len(o.key) + len(o.value)
	}
	require.Less(t, size, 5<<10, "a small change writes much")
	requireModel(t, h.store, h.model, h.model)
	h.close()
}

// TestWhatHasEndedIsRemoved: a hash that is deleted, becomes a string, or goes with its slot, leaves nothing.
func TestWhatHasEndedIsRemoved(t *testing.T) {
	for what, end := range map[string]func(*hashes){
		"deleted": func(h *hashes) { h.run(command.OpDel, "a") },
		"removed": func(h *hashes) { require.NoError(t, h.engine.Delete(partsSlot, []byte("a"))) },
		"string":  func(h *hashes) { h.run(command.OpSet, "a", "x") },
		"reset":   func(h *hashes) { require.NoError(t, h.engine.Reset(partsSlot, record.SlotMeta{})) },
	} {
		t.Run(what, func(t *testing.T) {
			h := newHashes(t, t.TempDir(), 1)
			h.fill("a", 3000)
			require.NoError(t, h.engine.FlushOnly())
			end(h)
			require.NoError(t, h.engine.Flush())
			require.NoError(t, h.engine.sweep(context.Background()))
			h.engine.parted.Store(false) // at once, not when the sweep comes by
			require.NoError(t, h.engine.sweepParts(context.Background()))
			require.Empty(t, h.store.keys(partsPrefix))
			require.NoError(t, h.engine.Close())
		})
	}
}
