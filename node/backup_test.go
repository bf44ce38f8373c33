package node

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/backup"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/ring"
)

// contents is what a store or a backup holds.
type contents struct {
	metas   map[uint16]record.SlotMeta
	records map[string]record.Record
}

func newContents() contents {
	return contents{metas: map[uint16]record.SlotMeta{}, records: map[string]record.Record{}}
}

func (c *contents) add(slot uint16, meta record.SlotMeta) {
	if meta.Epoch = 0; meta != (record.SlotMeta{}) {
		c.metas[slot] = meta
	}
}

func (c *contents) put(key []byte, rec record.Record) {
	rec.State.Value = append([]byte(nil), rec.State.Value...)
	c.records[string(key)] = rec
}

// contentsOf returns what an engine holds of the slots that a node is a replica of.
func contentsOf(t testing.TB, e engine.Engine, holds func(uint16) bool) contents {
	t.Helper()
	c := newContents()
	for slot := range uint16(ring.Slots) {
		if !holds(slot) {
			continue
		}
		meta, err := e.Slot(slot)
		require.NoError(t, err)
		c.add(slot, meta)
		require.NoError(t, e.Scan(slot, 0, func(_ engine.Position, key []byte, rec record.Record) bool {
			c.put(key, rec)
			return true
		}))
	}
	return c
}

// readBackup reads a backup to its end. A key in it twice fails the test.
func readBackup(t testing.TB, r io.Reader) (*backup.Reader, contents, error) {
	t.Helper()
	in, err := backup.NewReader(r)
	require.NoError(t, err)
	c := newContents()
	for {
		chunk, err := in.Next()
		if errors.Is(err, io.EOF) {
			return in, c, nil
		}
		if err != nil {
			return in, c, err
		}
		c.add(chunk.Slot, chunk.Meta)
		for _, e := range chunk.Records {
			if _, twice := c.records[string(e.Key)]; twice {
				t.Fatalf("%q is there twice", e.Key)
			}
			c.put(e.Key, e.Record)
		}
	}
}

// fill puts records into an engine as if a former life had written them: keys of many
// slots, and many keys of one.
func fill(t testing.TB, e engine.Engine, n int) {
	t.Helper()
	for i := range n {
		key := fmt.Appendf(nil, "key:%d", i)
		if i%2 == 0 {
			key = fmt.Appendf(nil, "{one slot}%d", i)
		}
		rec := record.Record{Version: testVersion(9, uint64(i+1)), State: record.State{Type: record.String, Value: fmt.Appendf(nil, "value %d", i)}}
		if i%7 == 0 {
			rec.State = record.State{}
		}
		slot := ring.SlotOf(key)
		require.NoError(t, e.Put(slot, key, rec))
		require.NoError(t, e.PutSlot(slot, record.SlotMeta{Epoch: 1, Promised: rec.Version.Ballot, Floor: testVersion(2, 1)}))
	}
}

func testVersion(counter, seq uint64) record.Version {
	return record.Version{Ballot: record.Ballot{Counter: counter, Incarnation: record.NewIncarnation(1234, 2)}, Seq: seq}
}

func TestBackupHoldsWhatTheReplicaHolds(t *testing.T) {
	c := newFormed(t, 4, func(o *Options) { // 4 nodes with 3 replicas: none holds every slot
		fill(t, o.Engine, 5000)
	})
	n := c.nodes["b"]
	cl := c.dial(n)
	for _, words := range []string{"set " + c.keyOf(n) + " v", "psetex t" + c.keyOf(n) + " 100000 v"} {
		cl.do(words)
	}
	var file bytes.Buffer
	require.NoError(t, n.Backup(t.Context(), &file))
	in, got, err := readBackup(t, &file)
	require.NoError(t, err)

	v := n.replicas.View()
	require.Equal(t, contentsOf(t, n.engine, func(slot uint16) bool { return v.Table.Contains(slot, v.Self) }), got)
	require.NotEmpty(t, got.metas)
	h := in.Header()
	require.Equal(t, v.Cluster, h.Cluster)
	require.Equal(t, []any{"b", "test"}, []any{h.Node, h.Quoll})
	require.Equal(t, v.Table.ReplicaSlots(v.Self), h.Slots.Len())
	require.EqualValues(t, len(got.records), in.Counts().Live+in.Counts().Tombstones)
	require.Positive(t, in.Counts().Tombstones)
}

// TestBackupWhileKeysAreWritten: what was there before and is not touched is in it; what is
// written meanwhile is in it as it was at some moment.
func TestBackupWhileKeysAreWritten(t *testing.T) {
	c := newFormed(t, 1, func(o *Options) { fill(t, o.Engine, 4000) })
	n := c.nodes["a"]
	before := contentsOf(t, n.engine, func(uint16) bool { return true })
	ctx, cancel := context.WithCancel(t.Context())
	var writer sync.WaitGroup
	writes := 0
	cl := c.dial(n)
	writer.Go(func() {
		for ; ctx.Err() == nil; writes++ {
			cl.do(fmt.Sprintf("set {one slot}%d new-%d", writes%1000*2, writes))
			cl.do(fmt.Sprintf("set {one slot}new:%d new-%d", writes, writes))
		}
	})
	for range 3 {
		var file bytes.Buffer
		require.NoError(t, n.Backup(t.Context(), &file))
		_, got, err := readBackup(t, &file)
		require.NoError(t, err)
		for key, was := range before.records {
			rec, found := got.records[key]
			if found && was.Version == rec.Version && bytes.Equal(was.State.Value, rec.State.Value) {
				continue
			}
			require.True(t, found, key)
			number, isNew := bytes.CutPrefix(rec.State.Value, []byte("new-"))
			i, err := strconv.Atoi(string(number))
			require.True(t, isNew && err == nil && was.Version.Less(rec.Version), "%s: %s", key, rec.State.Value)
			require.Equal(t, key, fmt.Sprintf("{one slot}%d", i%1000*2))
		}
		for slot, meta := range got.metas {
			require.False(t, meta.Promised.Less(before.metas[slot].Promised))
		}
	}
	cancel()
	writer.Wait()
	require.Positive(t, writes)
}

// TestR2BackupWaitsForTheCommit: what a power cut could take back is in no backup.
func TestR2BackupWaitsForTheCommit(t *testing.T) {
	c, n, slow := newSlow(t, 1)
	set := c.dial(n).send(op(protocol.Execute, "set k v"))[0]
	awaitHeld(t, slow)
	file := &watched{}
	done := make(chan error, 1)
	go func() { done <- n.Backup(t.Context(), file) }()
	ctx, cancel := context.WithTimeout(t.Context(), patience)
	defer cancel()
	require.NoError(t, slow.AwaitHeld(ctx, 2))
	_, got, err := readBackup(t, bytes.NewReader(file.written()))
	require.ErrorIs(t, err, backup.ErrIncomplete)
	require.Empty(t, got.records)
	require.Empty(t, got.metas, "a promise is a promise only when it is durable")
	c.eventually(func() bool { slow.Release(); return len(set) > 0 && len(done) > 0 })
	require.NoError(t, received(t, done))
	_, got, err = readBackup(t, bytes.NewReader(file.written()))
	require.NoError(t, err)
	require.Len(t, got.metas, 1)
}

// watched is a destination that others look at.
type watched struct {
	mu   sync.Mutex
	data []byte
}

func (w *watched) Write(p []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.data = append(w.data, p...)
	return len(p), nil
}

func (w *watched) written() []byte {
	w.mu.Lock()
	defer w.mu.Unlock()
	return bytes.Clone(w.data)
}

func TestBackupOfANodeThatDoesNotVote(t *testing.T) {
	c := newTestCluster(t, 2)
	n := c.start("a", nil)
	var file bytes.Buffer
	require.ErrorContains(t, n.Backup(t.Context(), &file), "node a cannot be backed up: it does not vote: waits for b")
	require.Zero(t, file.Len())
}

func TestBackupThatEndsEarlySaysWhy(t *testing.T) {
	t.Run("the node is closed", func(t *testing.T) {
		c, n, slow := newSlow(t, 1)
		file, done := &watched{}, make(chan error, 2)
		go func() { done <- n.Backup(context.Background(), file) }()
		awaitHeld(t, slow)
		require.ErrorIs(t, n.Backup(t.Context(), io.Discard), errBackupRuns)
		c.stop("a")
		require.ErrorIs(t, received(t, done), errClosing)
		_, _, err := readBackup(t, bytes.NewReader(file.written()))
		require.ErrorIs(t, err, backup.ErrFailed)
		require.ErrorContains(t, err, "the node is being stopped")
		require.ErrorIs(t, n.Backup(t.Context(), io.Discard), errClosing)
	})
	t.Run("it is interrupted", func(t *testing.T) {
		_, n, slow := newSlow(t, 1)
		ctx, cancel := context.WithCancelCause(t.Context())
		file, done := &watched{}, make(chan error, 1)
		go func() { done <- n.Backup(ctx, file) }()
		awaitHeld(t, slow)
		enough := errors.New("enough")
		cancel(enough)
		require.ErrorIs(t, received(t, done), enough)
		_, _, err := readBackup(t, bytes.NewReader(file.written()))
		require.ErrorContains(t, err, "enough")
		require.NoError(t, n.Ready(t.Context()))
	})
	t.Run("the store fails", func(t *testing.T) {
		_, n, slow := newSlow(t, 1)
		file, done := &watched{}, make(chan error, 1)
		go func() { done <- n.Backup(t.Context(), file) }()
		awaitHeld(t, slow)
		slow.Fail(errors.New("no such disk"))
		require.ErrorContains(t, received(t, done), "no such disk")
		require.Error(t, n.Ready(t.Context()), "the node does not vote any more")
	})
	t.Run("a slot is damaged", func(t *testing.T) {
		c := newFormed(t, 1, func(o *Options) { o.Engine = damagedSlot{o.Engine} })
		var file bytes.Buffer
		require.ErrorIs(t, c.nodes["a"].Backup(t.Context(), &file), engine.ErrCorrupt)
		_, _, err := readBackup(t, &file)
		require.ErrorIs(t, err, backup.ErrFailed)
		require.ErrorContains(t, err, "slot 77 cannot be read: engine: corrupt data; back up another node that holds it")
	})
	t.Run("the destination fails", func(t *testing.T) {
		c := newFormed(t, 1, func(o *Options) { fill(t, o.Engine, 10) })
		r, w := io.Pipe()
		go func() {
			_, _ = io.ReadFull(r, make([]byte, 10))
			r.CloseWithError(errors.New("disk full"))
		}()
		require.ErrorContains(t, c.nodes["a"].Backup(t.Context(), w), "disk full")
	})
}

type damagedSlot struct{ engine.Engine }

func (d damagedSlot) Scan(slot uint16, from engine.Position, visit func(engine.Position, []byte, record.Record) bool) error {
	if slot == 77 {
		return engine.ErrCorrupt
	}
	return d.Engine.Scan(slot, from, visit)
}

// TestNoBackupOfSlotsThatMove: which nodes hold all of them nobody can say.
func TestNoBackupOfSlotsThatMove(t *testing.T) {
	c := newFormed(t, 4, func(o *Options) { fill(t, o.Engine, 5000) })
	var others []uint16
	n := c.nodes["b"]
	slot := uint16(ring.Slots - 1)
	for !n.replicas.View().Table.Contains(slot, n.self().ID) {
		slot--
	}
	for _, other := range c.nodes {
		if !n.replicas.View().Table.Contains(slot, other.self().ID) {
			others = append(others, other.self().ID)
		}
	}
	old := n.replicas.View().Table.Replicas(slot)
	learn := func(a ring.Assignment) {
		require.True(t, n.replicas.Learn(changed(t, n, map[uint16]ring.Assignment{slot: a})))
	}
	learn(ring.Assignment{Replicas: old, Next: others})
	var file bytes.Buffer
	require.ErrorContains(t, n.Backup(t.Context(), &file), "1 of its slots move")
	require.Zero(t, file.Len())
	learn(ring.Assignment{Replicas: old})
	require.NoError(t, n.Backup(t.Context(), &file))

	began := false
	err := n.Backup(t.Context(), writerFunc(func(b []byte) (int, error) {
		if !began {
			began = true
			learn(ring.Assignment{Replicas: old, Next: others})
		}
		return len(b), nil
	}))
	require.ErrorContains(t, err, "has begun to move")
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }

// TestBackupsOfOneRingBelongTogether, whatever version of it each is of.
func TestBackupsOfOneRingBelongTogether(t *testing.T) {
	a := backup.Header{Formation: 7, Cluster: ring.Cluster{Name: "c", Epoch: 1, Members: []ring.Member{{ID: 1, Name: "a"}}}}
	b := backup.Header{Formation: 7, Cluster: ring.Cluster{Name: "c", Epoch: 9, Members: []ring.Member{{ID: 2, Name: "b"}, {ID: 3, Name: "c"}}}}
	require.True(t, sameRing(&a, &b))
	b.Formation = 8
	require.False(t, sameRing(&a, &b))
	b = a
	b.Formation = 0
	require.True(t, sameRing(&a, &b), "a former program made it")
	b.Cluster.Epoch = 9
	require.False(t, sameRing(&a, &b))
}
