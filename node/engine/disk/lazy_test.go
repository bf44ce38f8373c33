package disk

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype"
	"github.com/quolldb/quoll/node/engine"
)

// cold returns an engine that has a hash "a" of so many fields in the store only.
func cold(t *testing.T, fields int) *hashes { return coldOf(t, fields, false) }

// coldOf is cold for hashes or for lists.
func coldOf(t *testing.T, fields int, lists bool) *hashes {
	h := newHashes(t, t.TempDir(), 1)
	h.lists = lists
	h.fill("a", fields)
	require.NoError(t, h.engine.Flush())
	h.evict()
	return h
}

// get executes HGET, and returns the reply.
func (h *hashes) get(key, field string) (reply string, err error) {
	defer record.Catch(&err)
	rec, _, err := h.engine.Get(partsSlot, []byte(key))
	if err != nil {
		return "", err
	}
	got, _ := datatype.Execute(nil, rec.State, &command.Request{Op: command.OpHGet, Args: [][]byte{nil, []byte(key), []byte(field)}}, 1)
	return string(got), nil
}

// TestOneFieldReadsLittle: of a hash that is not in memory a query or a change of one field reads the head, the root, and what is on the way to the field. What was read stays,
// and is counted.
func TestOneFieldReadsLittle(t *testing.T) {
	for _, fields := range []int{10_000, 100_000} {
		h := cold(t, fields)
		all := len(h.store.keys(partsPrefix))
		memory := h.engine.memory.Load()
		reads := h.store.reads.Load()
		reply, err := h.get("a", "field77")
		require.NoError(t, err)
		require.NotEqual(t, "$-1\r\n", reply)
		require.LessOrEqual(t, h.store.reads.Load()-reads, int64(5), "a query of one field reads much")
		grown := h.engine.memory.Load() - memory
		require.Greater(t, grown, int64(5000), "what is read is not counted")
		require.Less(t, grown, int64(40_000), "what is not read is counted")

		reads = h.store.reads.Load()
		_, err = h.get("a", "field77")
		require.NoError(t, err)
		require.Equal(t, reads, h.store.reads.Load(), "what was read is read again")

		h.evict()
		require.Equal(t, memory, h.engine.memory.Load(), "what has left memory is counted")
		h.dropFormer() // what has left memory
		reads = h.store.reads.Load()
		h.run(command.OpHSet, "a", "field78", "new")
		require.LessOrEqual(t, h.store.reads.Load()-reads, int64(5), "a change of one field reads much")
		reads = h.store.reads.Load()
		require.NoError(t, h.engine.FlushOnly())
		require.LessOrEqual(t, h.store.reads.Load()-reads, int64(6), "writing a change reads much")
		require.InDelta(t, all, len(h.store.keys(partsPrefix)), 2, "what is obsolete stays though nobody has it")
		h.check()
		h.close()
	}
}

// TestAWalkTakesLittleMemory: what goes through all of a hash leaves little of it in memory, unless there is room.
func TestAWalkTakesLittleMemory(t *testing.T) {
	h := cold(t, 50_000)
	size := int64(h.model["a"].State.Size())
	walk := func() (memory int64) {
		rec, _, err := h.engine.Get(partsSlot, []byte("a"))
		require.NoError(t, err)
		n, err := io.Copy(io.Discard, rec.State.Reader())
		require.NoError(t, err)
		require.Equal(t, size, n)
		return sourceOf(rec.State).memory()
	}
	full := h.engine.opt.Cache
	h.engine.memory.Add(full)
	require.Less(t, walk(), size/8, "a walk leaves all in memory")
	h.engine.memory.Add(-full)
	h.evict()
	require.Greater(t, walk(), size, "there is room, and a walk leaves nothing")
	reads := h.store.reads.Load()
	walk()
	require.Equal(t, reads, h.store.reads.Load())
	h.close()
}

// TestAFormerVersionIsThere for whoever has it, whatever becomes of the key, and though not all of it was read before. When he has it no more, what is left of it goes.
func TestAFormerVersionIsThere(t *testing.T) {
	for what, end := range map[string]func(h *hashes){
		"changed": func(h *hashes) { h.change("a", 3) },
		"cut": func(h *hashes) {
			if h.lists {
				h.run(command.OpLTrim, "a", "1200", "1300")
			}
		},
		"changed after it was read again": func(h *hashes) {
			h.evict()
			h.change("a", 300)
		},
		"deleted":  func(h *hashes) { h.run(command.OpDel, "a") },
		"removed":  func(h *hashes) { require.NoError(h.t, h.engine.Delete(partsSlot, []byte("a"))) },
		"replaced": func(h *hashes) { h.run(command.OpSet, "a", "x") },
		"reset":    func(h *hashes) { require.NoError(h.t, h.engine.Reset(partsSlot, record.SlotMeta{})) },
		"cleared": func(h *hashes) {
			require.NoError(h.t, h.engine.Clear(partsSlot, record.SlotMeta{Cleared: record.Version{Seq: h.seq}}))
		},
		"left by a clear": func(h *hashes) { require.NoError(h.t, h.engine.Clear(partsSlot, record.SlotMeta{})) },
		"put elsewhere": func(h *hashes) {
			h.put("b", h.former[0].state)
			h.run(command.OpDel, "a")
		},
		"put again after it was read again": func(h *hashes) {
			h.crowd(true)
			h.evict()
			h.change("a", 300)
			require.NoError(h.t, h.engine.FlushOnly())
			h.former = slices.Clone(h.former[:1]) // nobody has what was read again
			h.put("a", h.former[0].state)
			h.collect()
			h.sweepStrays()
		},
	} {
		check := func(t *testing.T, lists bool) {
			h := coldOf(t, 3000, lists)
			h.keepFormer("a")
			end(h)
			sweep := func() {
				require.NoError(t, h.engine.Flush())
				require.NoError(t, h.engine.sweep(context.Background()))
				h.sweepStrays()
			}
			sweep()
			h.checkFormer()
			h.dropFormer()
			require.NoError(t, h.engine.Flush())
			require.NoError(t, h.engine.sweep(context.Background()))
			h.engine.straysRest = 1 // what is left is known
			require.NoError(t, h.engine.sweepParts(context.Background()))
			h.unmodelGone()
			h.requireNamed()
			h.close()
		}
		t.Run(what, func(t *testing.T) { check(t, false) })
		t.Run("a list, "+what, func(t *testing.T) { check(t, true) })
	}
}

// TestAChangeOfAnEarlierReading: a home may have a version from before the record left memory. What it makes of that is made of what was read again.
func TestAChangeOfAnEarlierReading(t *testing.T) {
	h := cold(t, 3000)
	former, _, err := h.engine.Get(partsSlot, []byte("a"))
	require.NoError(t, err)
	h.evict()
	req := &command.Request{Op: command.OpHSet, Args: [][]byte{nil, []byte("a"), []byte("field7"), []byte("new")}}
	_, eff := datatype.Execute(nil, former.State, req, 1)
	require.NoError(t, h.engine.Change(partsSlot, []byte("a"), h.next(eff.State), former.Version, eff.Delta))
	rec, _, err := h.engine.Get(partsSlot, []byte("a"))
	require.NoError(t, err)
	require.NotSame(t, sourceOf(former.State), sourceOf(rec.State), "the key has an object of an earlier reading")
	require.Equal(t, string(eff.State.Packed().Value), string(rec.State.Packed().Value))
	h.close()
}

// unmodelGone takes from the model what the engine does not have.
func (h *hashes) unmodelGone() {
	for key := range h.model {
		if _, found, err := h.engine.Get(partsSlot, []byte(key)); err == nil && !found {
			delete(h.model, key)
		}
	}
}

// TestAPartThatCannotBeReadLater makes an error of the query or change that needs it, and is reported; what does not need it is answered.
func TestAPartThatCannotBeReadLater(t *testing.T) {
	h := cold(t, 3000)
	reported := make(chan uint16, 100)
	h.engine.ReportDamage(func(slot uint16, err error) {
		require.ErrorIs(t, err, engine.ErrCorrupt)
		reported <- slot
	})
	for _, key := range h.store.keys(partsPrefix)[3:5] { // pages: the first ones are
		h.store.spoil(key, func(value []byte) []byte { value[len(value)/2] ^= 1; return value })
	}
	readable, not := "", ""
	for i := range 3000 {
		field := fmt.Sprint("field", i)
		reply, err := h.get("a", field)
		if err != nil {
			require.ErrorIs(t, err, engine.ErrCorrupt)
			not = field
			continue
		}
		require.NotEqual(t, "$-1\r\n", reply, "what cannot be read is taken for absent")
		readable = field
	}
	require.NotEmpty(t, readable)
	require.NotEmpty(t, not)
	select {
	case slot := <-reported:
		require.EqualValues(t, partsSlot, slot)
	case <-time.After(time.Minute):
		require.Fail(t, "what cannot be read is not reported")
	}

	rec, _, err := h.engine.Get(partsSlot, []byte("a"))
	require.NoError(t, err)
	for _, op := range []command.Op{command.OpHSet, command.OpHDel} {
		_, err = datatype.Apply(rec.State, h.delta(op, readable))
		require.NoError(t, err)
		_, err = datatype.Apply(rec.State, h.delta(op, not))
		require.ErrorIs(t, err, engine.ErrCorrupt)
	}
	_, err = io.Copy(io.Discard, rec.State.Reader())
	require.ErrorIs(t, err, engine.ErrCorrupt)
	require.ErrorIs(t, h.engine.Put(partsSlot, []byte("b"), h.next(rec.State)), engine.ErrCorrupt)
	require.NoError(t, h.engine.Reset(partsSlot, record.SlotMeta{}))
	h.close()
}

// TestAChangeOfWhatCannotBeReadIsRepeated after a crash as far as that goes: the slot does not vote until it is copied from other replicas.
func TestAChangeOfWhatCannotBeReadIsRepeated(t *testing.T) {
	h := cold(t, 3000)
	for i := range 60 {
		h.run(command.OpHSet, "a", fmt.Sprint("field", i), "new")
	}
	require.NoError(t, commitNow(h.engine))
	damaged := h.store.after(h.store.writes())
	for i, key := range damaged.keys(partsPrefix) {
		if i%3 == 1 {
			damaged.spoil(key, func(value []byte) []byte { return value[:len(value)-1] })
		}
	}
	dir := t.TempDir()
	h.copyJournal(dir)
	e := openFake(t, dir, damaged)
	meta, err := e.Slot(partsSlot)
	require.NoError(t, err)
	require.True(t, meta.Rebuilding, "a change is lost, and nobody knows")
	require.NoError(t, e.Reset(partsSlot, record.SlotMeta{}))
	require.NoError(t, e.Close())
	h.close()
}

// delta returns what a command on a field of hash "a" sends to replicas.
func (h *hashes) delta(op command.Op, field string) []byte {
	st, _ := datatype.Live(h.model["a"].State)
	req := &command.Request{Op: op, Args: [][]byte{nil, []byte("a"), []byte(field)}}
	if op == command.OpHSet {
		req.Args = append(req.Args, []byte("new"))
	}
	_, eff := datatype.Execute(nil, st, req, 1)
	require.Equal(h.t, record.Changed, eff.Kind)
	return eff.Delta
}

// TestNothingIsReadOfAClosedEngine: an object outlives it.
func TestNothingIsReadOfAClosedEngine(t *testing.T) {
	h := cold(t, 3000)
	rec, _, err := h.engine.Get(partsSlot, []byte("a"))
	require.NoError(t, err)
	h.close()
	_, err = io.Copy(io.Discard, rec.State.Reader())
	require.ErrorIs(t, err, engine.ErrClosed)
	require.False(t, errors.Is(err, engine.ErrCorrupt))
}

// TestReadersOfFormerVersions, which others change, write to the store, evict and read again meanwhile, find what they began with.
func TestReadersOfFormerVersions(t *testing.T) {
	h := cold(t, 3000)
	stop := make(chan struct{})
	var readers sync.WaitGroup
	versions := make(chan former)
	for range 3 {
		readers.Go(func() {
			for was := range versions {
				value, err := io.ReadAll(was.state.Reader())
				if assert.NoError(t, err) {
					assert.Equal(t, was.value, string(value))
				}
			}
		})
	}
	readers.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
			}
			h.engine.flushes.Lock()
			assert.NoError(t, h.engine.flush(context.Background()))
			assert.NoError(t, h.engine.sweepParts(context.Background()))
			h.engine.flushes.Unlock()
		}
	})
	for range 40 {
		h.change("a", 5)
		was := h.former[0]
		h.former = nil
		for range 2 {
			versions <- was
		}
		h.evict()
	}
	close(versions)
	close(stop)
	readers.Wait()
	h.check()
	h.close()
}
