package disk_test

import (
	"fmt"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype"
	"github.com/quolldb/quoll/node/engine/disk"
	"github.com/quolldb/quoll/node/engine/enginetest"
)

// TestCrashWithAMillionFields: files are taken away while parts of a hash are being written. It is there as it was when that began or later, whole, and
// what was committed of it is.
func TestCrashWithAMillionFields(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes many seconds")
	}
	forEachKind(t, testCrashWithAMillionFields)
}

func testCrashWithAMillionFields(t *testing.T, k kind) {
	const fields, value = 1_000_000, 72
	dir := k.dir(t.TempDir())
	opt := calm(dir)
	opt.SegmentSize, opt.MemTable, opt.Cache = 0, 0, 0
	e, err := openHashes(k, opt)
	require.NoError(t, err)
	set := func(rec record.Record, i int, value string) (record.Record, []byte) {
		req := &command.Request{Op: command.OpHSet, Args: [][]byte{[]byte("HSET"), []byte("k"), fmt.Append(nil, "field:", i), []byte(value)}}
		_, eff := datatype.Execute(nil, rec.State, req, 1)
		return record.Record{Version: record.Version{Seq: rec.Version.Seq + 1}, State: eff.State}, eff.Delta
	}
	var rec record.Record
	for i := range fields {
		rec, _ = set(rec, i, fmt.Sprintf("%*d", value, i))
	}
	require.NoError(t, e.Put(3, []byte("k"), rec))
	require.NoError(t, e.WriteBack())

	given := e.CountStore()
	random, changes := rand.New(rand.NewPCG(1, 2)), 0
	change := func(n int) {
		for range n {
			next, delta := set(rec, random.IntN(fields), fmt.Sprintf("%*d", value, -changes))
			require.NoError(t, e.Change(3, []byte("k"), next, rec.Version, delta))
			rec, changes = next, changes+1
		}
		require.NoError(t, commit(e))
	}
	change(10_000)
	began := time.Now()
	require.NoError(t, e.FlushOnly())
	t.Logf("%d changes: %d bytes each to the store, in %v", changes, given()/int64(changes), time.Since(began))
	change(10_000)

	flushed := make(chan error, 1)
	go func() { flushed <- e.FlushOnly() }()
	crashed := k.dir(t.TempDir())
	require.NoError(t, enginetest.Freeze(dir, crashed))
	require.NoError(t, <-flushed)
	require.NoError(t, e.Close())

	opt = calm(crashed)
	opt.Cache, opt.MemTable, opt.SegmentSize = 0, 0, 0
	for range 2 {
		began = time.Now()
		e, err = openHashes(k, opt)
		require.NoError(t, err)
		t.Log("opened in ", time.Since(began))
		began = time.Now()
		got, found, err := e.Get(3, []byte("k"))
		t.Log("read in ", time.Since(began))
		require.NoError(t, err)
		require.True(t, found)
		require.Equal(t, rec.Version, got.Version)
		require.Equal(t, string(rec.State.Packed().Value), string(got.State.Packed().Value))
		require.NoError(t, e.Close())
		opt.MustExist = true
	}
}

// openHashes opens an engine with hashes as nodes have them.
func openHashes(k kind, o options) (*disk.Engine, error) {
	o.Apply, o.Live, o.Assemble = datatype.Apply, datatype.Live, datatype.Assemble
	return k.open(o)
}
