package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/backup"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/enginetest"
	"github.com/quolldb/quoll/node/engine/memory"
	"github.com/quolldb/quoll/ring"
)

// writeBackup makes a backup of made-up chunks.
func writeBackup(t require.TestingT, chunks []backup.Chunk, change func(*backup.Header)) []byte {
	h := backup.Header{Node: "a", Time: time.UnixMilli(0).UTC(), Cluster: ring.Cluster{Name: "test", Epoch: 1, Replicas: 1,
		Members: []ring.Member{{ID: 1, Name: "a", Peer: "h:1", Weight: 1, Generation: 5}}}}
	for slot := range uint16(ring.Slots) {
		h.Slots.Add(slot)
	}
	if change != nil {
		change(&h)
	}
	slices.SortStableFunc(chunks, func(a, b backup.Chunk) int { return int(a.Slot) - int(b.Slot) })
	var file bytes.Buffer
	w, err := backup.NewWriter(&file, h)
	require.NoError(t, err)
	for i := range chunks {
		require.NoError(t, w.Write(&chunks[i]))
	}
	require.NoError(t, w.Close())
	return file.Bytes()
}

func restore(t require.TestingT, e engine.Engine, files ...[]byte) error {
	var sources []RestoreSource
	for i, file := range files {
		r, err := backup.NewReader(bytes.NewReader(file))
		require.NoError(t, err)
		sources = append(sources, RestoreSource{Name: fmt.Sprint("file ", i+1), Reader: r})
	}
	return Restore(context.Background(), e, sources, nil)
}

// TestRestoreMerges: of every key the newest version, of every slot the highest of everything,
// nothing that a clear has removed, and no record above the promise.
func TestRestoreMerges(t *testing.T) {
	version := rapid.Custom(func(t *rapid.T) record.Version {
		return testVersion(rapid.Uint64Range(1, 3).Draw(t, "counter"), rapid.Uint64Range(1, 5).Draw(t, "seq"))
	})
	maybe := rapid.OneOf(rapid.Just(record.Version{}), version)
	chunk := rapid.Custom(func(t *rapid.T) backup.Chunk {
		slot := rapid.Uint16Range(0, 3).Draw(t, "slot")
		c := backup.Chunk{Slot: slot, Meta: record.SlotMeta{Promised: maybe.Draw(t, "promised").Ballot, Floor: maybe.Draw(t, "floor"), Cleared: maybe.Draw(t, "cleared")}}
		for _, i := range rapid.SliceOfDistinct(rapid.IntRange(0, 5), rapid.ID).Draw(t, "keys") {
			e := backup.Entry{Key: keyInSlot(slot, i), Record: record.Record{Version: version.Draw(t, "version")}}
			if v := e.Version; v.Seq%2 == 0 { // one version names one state
				e.State = record.State{Type: record.String, Value: fmt.Appendf(nil, "%d.%d", v.Ballot.Counter, v.Seq), ExpireAt: int64(v.Seq)}
			}
			c.Records = append(c.Records, e)
		}
		return c
	})
	rapid.Check(t, func(t *rapid.T) {
		want := newContents()
		var files [][]byte
		for _, chunks := range rapid.SliceOfN(rapid.SliceOfNDistinct(chunk, 0, 4, func(c backup.Chunk) uint16 { return c.Slot }), 1, 3).Draw(t, "files") {
			files = append(files, writeBackup(t, chunks, nil))
			for _, c := range chunks {
				want.merge(c)
			}
		}
		maps.DeleteFunc(want.records, func(key string, rec record.Record) bool {
			return !want.metas[ring.SlotOf([]byte(key))].Cleared.Less(rec.Version)
		})
		e := memory.New()
		require.NoError(t, restore(t, e, files...))
		got := newContents()
		for slot := range uint16(4) {
			meta, err := e.Slot(slot)
			require.NoError(t, err)
			got.add(slot, meta)
			require.NoError(t, e.Scan(slot, 0, func(_ engine.Position, key []byte, rec record.Record) bool {
				got.put(key, rec)
				return true
			}))
		}
		require.Equal(t, want.metas, got.metas)
		require.Equal(t, want.records, got.records)
	})
}

// merge is Restore in a few words.
func (c *contents) merge(chunk backup.Chunk) {
	meta := c.metas[chunk.Slot]
	meta.Floor, meta.Cleared = record.Max(meta.Floor, chunk.Meta.Floor), record.Max(meta.Cleared, chunk.Meta.Cleared)
	ballots := []record.Ballot{meta.Promised, chunk.Meta.Promised, meta.Floor.Ballot, meta.Cleared.Ballot}
	for _, e := range chunk.Records {
		ballots = append(ballots, e.Version.Ballot)
		if c.records[string(e.Key)].Version.Less(e.Version) {
			c.put(e.Key, e.Record)
		}
	}
	for _, b := range ballots {
		if meta.Promised.Less(b) {
			meta.Promised = b
		}
	}
	c.add(chunk.Slot, meta)
}

// tags holds a hash tag of some slots.
var tags = func() map[uint16]string {
	tags := map[uint16]string{}
	for n := 0; len(tags) < 4; n++ {
		if tag := fmt.Sprintf("{%d}", n); ring.SlotOf([]byte(tag)) < 4 {
			tags[ring.SlotOf([]byte(tag))] = tag
		}
	}
	return tags
}()

// keyInSlot returns the i-th of some keys of one of the first slots.
func keyInSlot(slot uint16, i int) []byte { return fmt.Appendf(nil, "%s%d", tags[slot], i) }

func TestRestoreErrors(t *testing.T) {
	good := writeBackup(t, []backup.Chunk{{Slot: 1, Records: []backup.Entry{{Key: keyInSlot(1, 1), Record: record.Record{Version: testVersion(1, 1)}}}}}, nil)
	require.NoError(t, restore(t, memory.New(), good, good))

	for name, change := range map[string]func(*backup.Header){
		"name":       func(h *backup.Header) { h.Cluster.Name = "other" },
		"epoch":      func(h *backup.Header) { h.Cluster.Epoch = 2 },
		"generation": func(h *backup.Header) { h.Cluster.Members[0].Generation = 6 },
		"member":     func(h *backup.Header) { h.Cluster.Members[0].Name = "b" },
		"number": func(h *backup.Header) {
			h.Cluster.Members = append(h.Cluster.Members, ring.Member{ID: 2, Name: "b", Peer: "h:2", Weight: 1})
		},
	} {
		err := restore(t, memory.New(), good, writeBackup(t, nil, change))
		require.ErrorIs(t, err, errOtherRing, name)
		require.ErrorContains(t, err, "file 1 and file 2: ")
	}
	require.NoError(t, restore(t, memory.New(), good, writeBackup(t, nil, func(h *backup.Header) {
		h.Cluster.Members[0].Peer, h.Node = "h:9", "b"
	})), "addresses may change in a life")

	bad := bytes.Clone(good)
	bad[len(bad)-1] ^= 1
	err := restore(t, memory.New(), good, bad)
	require.ErrorIs(t, err, backup.ErrDamaged)
	require.ErrorContains(t, err, "file 2: ")
	require.ErrorIs(t, restore(t, memory.New(), good[:len(good)-1]), backup.ErrIncomplete)

	slow := enginetest.Slow(memory.New())
	slow.Fail(errors.New("broken disk"))
	require.ErrorContains(t, restore(t, slow, good), "broken disk")

	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(errors.New("interrupted"))
	r, err := backup.NewReader(bytes.NewReader(good))
	require.NoError(t, err)
	require.ErrorContains(t, Restore(ctx, memory.New(), []RestoreSource{{Name: "f", Reader: r}}, nil), "interrupted")
}

// TestRestoreWaitsForRoom: an engine that cannot keep up is waited for, one that is full not
// for ever.
func TestRestoreWaitsForRoom(t *testing.T) {
	good := writeBackup(t, nil, nil)
	synctest.Test(t, func(t *testing.T) {
		began := time.Now()
		slow := &fullEngine{Engine: memory.New(), until: began.Add(restorePatience - time.Second)}
		require.NoError(t, restore(t, slow, good))
		require.GreaterOrEqual(t, time.Since(began), restorePatience-time.Second)
		full := &fullEngine{Engine: memory.New(), until: began.Add(time.Hour)}
		require.ErrorIs(t, restore(t, full, good), engine.ErrFull)
	})
}

// fullEngine has no room until some time.
type fullEngine struct {
	engine.Engine
	until time.Time
}

func (f *fullEngine) Room() error {
	if time.Now().Before(f.until) {
		return fmt.Errorf("%w: 1 MiB is free", engine.ErrFull)
	}
	return nil
}

// TestARestoredClusterGoesOn: whatever can be done to data can be done to restored data, though
// the former life of the cluster had come far: its ballots are higher than a new one's.
func TestARestoredClusterGoesOn(t *testing.T) {
	t.Parallel()
	former := newFormed(t, 1, func(o *Options) {
		slots := map[uint16]record.SlotMeta{}
		for i := range 120 {
			key := fmt.Appendf(nil, "key-%d", i)
			rec := record.Record{Version: testVersion(uint64(1+i%40), uint64(i+1)), State: record.State{Type: record.String, Value: []byte("old")}}
			require.NoError(t, o.Engine.Put(ring.SlotOf(key), key, rec))
			slots[ring.SlotOf(key)] = record.SlotMeta{Epoch: 3, Promised: testVersion(1000, 1).Ballot, Floor: testVersion(3, 1)}
		}
		for slot, meta := range slots {
			require.NoError(t, o.Engine.PutSlot(slot, meta))
		}
	})
	var file bytes.Buffer
	require.NoError(t, former.nodes["a"].Backup(t.Context(), &file))
	former.stop("a")

	c := newFormed(t, 3, func(o *Options) { require.NoError(t, restore(t, o.Engine, file.Bytes())) })
	var clients []*client
	for _, m := range c.initial {
		clients = append(clients, c.dial(c.nodes[m.Name]))
	}
	for i := range 120 {
		key := fmt.Sprintf("key-%d", i)
		read := clients[i%3].one(op(protocol.ReadValue, "get "+key))
		require.Equal(t, "$3\r\nold\r\n", string(read.Reply), key)
		do := func(at int, words string) string {
			var r protocol.Result
			c.eventually(func() bool { // a rival may have to be overcome
				r = clients[(i+at)%3].do(words)
				return r.Status == protocol.StatusDone
			})
			return string(r.Reply)
		}
		var want string
		switch i % 4 {
		case 0:
			require.Equal(t, "+OK\r\n", do(0, "set "+key+" new"))
			want = "$3\r\nnew\r\n"
		case 1:
			require.Equal(t, ":6\r\n", do(0, "append "+key+" new"))
			want = "$6\r\noldnew\r\n"
		case 2:
			require.Equal(t, ":1\r\n", do(0, "del "+key))
			want = "$-1\r\n"
		case 3:
			require.Equal(t, "+OK\r\n", do(0, "psetex "+key+" 1 new"))
			c.eventually(func() bool { return do(0, "get "+key) == "$-1\r\n" })
			want = "$-1\r\n"
		}
		require.Equal(t, want, do(1, "get "+key), "%s, from another home", key)
		require.Equal(t, want, do(2, "get "+key), "%s, from a third", key)
	}
}
