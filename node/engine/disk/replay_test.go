package disk_test

import (
	"bytes"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/disk"
	"github.com/quolldb/quoll/node/engine/enginetest"
)

// changed is a directory as a crash leaves it after the store has a record and the journal changes of it.
type changed struct {
	dir    string
	before []byte        // the value that the store has
	after  record.Record // what the changes make of it
}

// change puts a record, closes the engine, changes the record, each time with the version after the one before, and crashes. from is the
// version that the first change says it is made of.
func change(t *testing.T, k kind, from uint64) changed {
	dir, c := k.dir(t.TempDir()), changed{dir: k.dir(t.TempDir()), before: bytes.Repeat([]byte("a rather long value "), 20_000)}
	e := openCalm(t, dir)
	c.after = record.Record{Version: record.Version{Seq: 1}, State: record.State{Type: record.String, Value: c.before}}
	require.NoError(t, e.Put(3, []byte("k"), c.after))
	require.NoError(t, e.Close())
	e = openCalm(t, dir)
	for seq := from; seq < from+3; seq++ {
		delta := []byte{'0' + byte(seq)}
		c.after.Version.Seq = seq + 1
		c.after.State, _ = enginetest.Apply(c.after.State, delta)
		require.NoError(t, e.Change(3, []byte("k"), c.after, record.Version{Seq: seq}, delta))
	}
	done := make(chan error, 1)
	e.Commit(func(err error) { done <- err })
	require.NoError(t, <-done)
	require.NoError(t, enginetest.Freeze(dir, c.dir))
	require.NoError(t, e.Close())
	return c
}

// TestChangesAreRepeated on what the store has; and once more when the store has what they lead to.
func TestChangesAreRepeated(t *testing.T) {
	forEachKind(t, func(t *testing.T, k kind) {
		c := change(t, k, 1)
		for range 2 {
			e := openCalm(t, c.dir)
			got, found, err := e.Get(3, []byte("k"))
			require.NoError(t, err)
			require.True(t, found)
			require.Equal(t, c.after, got)
			ahead := t.TempDir()
			require.NoError(t, e.FlushOnly())
			require.NoError(t, enginetest.Freeze(c.dir, k.dir(ahead)))
			require.NoError(t, e.Close())
			c.dir = k.dir(ahead)
		}
	})
}

// TestAChangeOfWhatCannotBeRead: its slot does not vote, and is copied from others. What is put then is there.
func TestAChangeOfWhatCannotBeRead(t *testing.T) {
	forEachKind(t, func(t *testing.T, k kind) {
		c := change(t, k, 1)
		flipInside(t, c.dir, c.before[:1000])
		rebuilding := func(e *disk.Engine) bool {
			meta, err := e.Slot(3)
			require.NoError(t, err)
			return meta.Rebuilding
		}
		for range 2 { // the journal has forgotten the changes when it is opened again
			e := openCalm(t, c.dir)
			require.True(t, rebuilding(e), "the slot votes without what was changed")
			other, err := e.Slot(4)
			require.NoError(t, err)
			require.False(t, other.Rebuilding)
			require.NoError(t, e.Close())
		}
		e := openCalm(t, c.dir)
		require.NoError(t, e.Reset(3, record.SlotMeta{Rebuilding: true}))
		require.NoError(t, e.Put(3, []byte("k"), c.after))
		require.NoError(t, e.PutSlot(3, record.SlotMeta{}))
		require.NoError(t, e.Close())
		e = openCalm(t, c.dir)
		require.False(t, rebuilding(e))
		got, _, err := e.Get(3, []byte("k"))
		require.NoError(t, err)
		require.Equal(t, c.after, got)
		require.NoError(t, e.Close())
	})
}

// TestAChangeOfAnotherVersionIsLoss: files of the store or of the journal are not there any more.
func TestAChangeOfAnotherVersionIsLoss(t *testing.T) {
	forEachKind(t, func(t *testing.T, k kind) {
		_, err := calm(change(t, k, 2).dir).open()
		require.ErrorIs(t, err, engine.ErrCorrupt, "a change was applied to another version")
	})
}

// TestADeletionSettlesChanges: the store has the deletion already, so that what came before it finds no record.
func TestADeletionSettlesChanges(t *testing.T) {
	forEachKind(t, func(t *testing.T, k kind) {
		dir := change(t, k, 1).dir
		e := openCalm(t, dir)
		require.NoError(t, e.Delete(3, []byte("k")))
		require.NoError(t, e.FlushOnly())
		crashed := k.dir(t.TempDir())
		require.NoError(t, enginetest.Freeze(dir, crashed))
		require.NoError(t, e.Close())
		e = openCalm(t, crashed)
		_, found, err := e.Get(3, []byte("k"))
		require.NoError(t, err)
		require.False(t, found)
		require.NoError(t, e.Close())
	})
}

// TestLargeObjectsWait: the store is not given one for each few bytes that change of it, and a crash takes nothing. When enough has changed
// it is, and the journal forgets.
func TestLargeObjectsWait(t *testing.T) {
	forEachKind(t, func(t *testing.T, k kind) {
		const large = 1 << 20
		opt := calm(k.dir(t.TempDir()))
		opt.WaitSize, opt.Cache = 8*large, 32*large
		e, err := opt.open()
		require.NoError(t, err)
		rec := record.Record{Version: record.Version{Seq: 1}, State: record.State{Type: record.Hash, Value: make([]byte, large)}}
		rec.State, _ = enginetest.Live(rec.State)
		require.NoError(t, e.Put(3, []byte("k"), rec))
		require.NoError(t, e.WriteBack())
		given := e.CountStore()
		for range 5 {
			for range 100 {
				base := rec.Version
				rec.Version.Seq++
				rec.State, _ = enginetest.Apply(rec.State, []byte{1})
				require.NoError(t, e.Change(3, []byte("k"), rec, base, []byte{1}))
			}
			require.NoError(t, e.Flush())
		}
		require.Less(t, given(), int64(large/2), "the store is given the whole object again")
		for i := range 5 {
			require.NoError(t, e.Put(3, []byte{byte(i)}, record.Record{State: record.State{Type: record.String, Value: make([]byte, 2*large)}}))
		}
		require.NoError(t, e.Flush())
		require.Greater(t, given(), int64(10*large), "it waits for ever")
		require.True(t, e.Forgotten())
		require.NoError(t, e.Close())
	})
}

// TestWhatIsNotUsedDoesNotWait, if memory is short: it would keep others out of it.
func TestWhatIsNotUsedDoesNotWait(t *testing.T) {
	forEachKind(t, func(t *testing.T, k kind) {
		opt := calm(k.dir(t.TempDir()))
		opt.WaitSize, opt.Cache = 1<<40, mib
		e, err := opt.open()
		require.NoError(t, err)
		st, _ := enginetest.Live(record.State{Type: record.Hash, Value: make([]byte, 100*kib)})
		require.NoError(t, e.Put(3, []byte("k"), record.Record{Version: record.Version{Seq: 1}, State: st}))
		require.NoError(t, e.Flush())
		require.False(t, e.Forgotten(), "it is written at once")
		began := time.Now()
		for i := 0; !e.Forgotten(); i++ {
			require.Less(t, time.Since(began), 30*time.Second, "it is never written")
			require.NoError(t, e.Put(4, fmt.Append(nil, i%100), record.Record{State: record.State{Type: record.String, Value: make([]byte, 100*kib)}}))
			require.NoError(t, e.Flush())
		}
		require.NoError(t, e.Close())
	})
}

// TestAPatchIsRepeated: of a short value that was overwritten the journal has the patch.
func TestAPatchIsRepeated(t *testing.T) {
	forEachKind(t, func(t *testing.T, k kind) {
		dir, crashed := k.dir(t.TempDir()), k.dir(t.TempDir())
		e := openCalm(t, dir)
		want := record.Record{Version: record.Version{Seq: 1}, State: record.State{Type: record.String, ExpireAt: 7, Value: bytes.Repeat([]byte("v"), 800)}}
		require.NoError(t, e.Put(3, []byte("k"), want))
		require.NoError(t, e.Close())
		e = openCalm(t, dir)
		for seq := uint64(2); seq < 5; seq++ {
			p := record.Patch{At: int(seq), Bytes: fmt.Append(nil, seq)}
			next := record.Record{Version: record.Version{Seq: seq}, State: p.Of(want.State, nil)}
			require.NoError(t, e.Patch(3, []byte("k"), next.Version, want.Version, p.Append(nil)))
			want = next
		}
		done := make(chan error, 1)
		e.Commit(func(err error) { done <- err })
		require.NoError(t, <-done)
		require.NoError(t, enginetest.Freeze(dir, crashed))
		require.NoError(t, e.Close())
		for _, dir := range []string{dir, crashed} {
			e := openCalm(t, dir)
			got, _, err := e.Get(3, []byte("k"))
			require.NoError(t, err)
			require.Equal(t, want, got)
			require.NoError(t, e.Close())
		}
	})
}
