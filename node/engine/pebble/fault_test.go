package pebble

import (
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
	"github.com/cockroachdb/pebble/v2/vfs/errorfs"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/disk"
)

// faulty is a file system on which writes, or reads, can fail.
type faulty struct {
	vfs.FS
	write, read atomic.Pointer[syscall.Errno]
	// left is how many more writes are well.
	left atomic.Int64
}

func newFaulty() *faulty {
	f := &faulty{}
	f.FS = errorfs.Wrap(vfs.Default, errorfs.InjectorFunc(f.inject))
	return f
}

func (f *faulty) inject(op errorfs.Op) error {
	errno := f.write.Load()
	switch op.Kind {
	case errorfs.OpFileRead, errorfs.OpFileReadAt:
		errno = f.read.Load()
	case errorfs.OpCreate, errorfs.OpRename, errorfs.OpFileWrite, errorfs.OpFileSync, errorfs.OpFileSyncData, errorfs.OpFilePreallocate, errorfs.OpLink:
		sync := op.Kind == errorfs.OpFileSync || op.Kind == errorfs.OpFileSyncData
		if errno != nil && (f.left.Add(-1) >= 0 || *errno == syscall.ENOSPC && sync) { // a sync that fails is final, whatever the reason
			errno = nil
		}
	default:
		errno = nil
	}
	if errno == nil {
		return nil
	}
	return &os.PathError{Op: "test", Path: op.Path, Err: *errno}
}

func (f *faulty) breakWrites(errno syscall.Errno, after int64) {
	f.left.Store(after)
	f.write.Store(&errno)
}

func optionsAt(dir string) disk.Options {
	_, err := os.Stat(filepath.Join(dir, "pebble"))
	return disk.Options{
		Dir: filepath.Join(dir, "pebble"), Journal: filepath.Join(dir, "journal"), MustExist: err == nil,
		SegmentSize: 256 << 10, MemTable: 512 << 10, FlushSize: 256 << 10, FlushInterval: 20 * time.Millisecond,
		Cache: 64 << 10, Reserve: 1, Interval: 5 * time.Millisecond, Logger: slog.New(slog.DiscardHandler),
	}
}

func openEngine(t *testing.T, files vfs.FS, dir string) *disk.Engine {
	e, err := OpenOn(files, optionsAt(dir))
	require.NoError(t, err)
	return e
}

// put writes records and commits them, and returns the error if that does not work.
func put(e engine.Engine, from, n int) error {
	for i := from; i < from+n; i++ {
		rec := record.Record{Version: record.Version{Seq: uint64(i + 1)}, State: record.State{Type: record.String, Value: []byte(strings.Repeat(fmt.Sprint(i), 400))}}
		if err := e.Put(uint16(i%100), fmt.Append(nil, "key ", i), rec); err != nil {
			return err
		}
	}
	done := make(chan error, 1)
	e.Commit(func(err error) { done <- err })
	return <-done
}

func requireRecords(t *testing.T, e engine.Engine, n int) {
	for i := range n {
		rec, found, err := e.Get(uint16(i%100), fmt.Append(nil, "key ", i))
		require.NoError(t, err)
		require.True(t, found, "key %d", i)
		require.EqualValues(t, i+1, rec.Version.Seq)
	}
}

// putUntil writes until that fails, and returns how much was acknowledged, and the error.
func putUntil(t *testing.T, e engine.Engine, from int) (int, error) {
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); from += 50 {
		if err := put(e, from, 50); err != nil {
			return from, err
		}
	}
	t.Fatal("nothing fails")
	return 0, nil
}

// TestABrokenDiskEndsTheEngine: after an error of a write nothing is acknowledged any more and the error says what to do, the process goes on and
// so do reads, and what was acknowledged is there when the disk is well again.
func TestABrokenDiskEndsTheEngine(t *testing.T) {
	for errno, advice := range map[syscall.Errno]string{
		syscall.EIO:   "cannot be written: look at the system's log and at the disk",
		syscall.EROFS: "is read-only now, which the system does when its disk fails",
	} {
		for _, after := range []int64{0, 1, 2, 5, 11} {
			if testing.Short() && errno == syscall.EROFS && after > 0 { // they differ in words
				continue
			}
			t.Run(fmt.Sprint(errno, after), func(t *testing.T) {
				dir := t.TempDir()
				files := newFaulty()
				e := openEngine(t, files, dir)
				require.NoError(t, put(e, 0, 2000))
				files.breakWrites(errno, after)
				n, err := putUntil(t, e, 2000)
				require.ErrorIs(t, err, errno)
				require.ErrorContains(t, err, advice)
				require.ErrorIs(t, e.Present(), errno)
				requireRecords(t, e, n)
				require.Error(t, e.Close())

				e = openEngine(t, vfs.Default, dir)
				requireRecords(t, e, n)
				require.NoError(t, put(e, n, 50))
				require.NoError(t, e.Close())
			})
		}
	}
}

// TestAFullDiskIsWaitedFor lets every kind of write meet a full disk: nothing fails but that, and it goes on by itself.
func TestAFullDiskIsWaitedFor(t *testing.T) {
	dir := t.TempDir()
	files := newFaulty()
	e := openEngine(t, files, dir)
	n := 0
	rounds := int64(16)
	if testing.Short() {
		rounds = 3
	}
	for after := range rounds {
		require.NoError(t, put(e, n, 1000))
		n += 1000
		files.breakWrites(syscall.ENOSPC, after)
		for e.Room() == nil { // nothing is written back any more, and the journal grows
			require.NoError(t, put(e, n, 50))
			n += 50
		}
		require.ErrorIs(t, e.Room(), engine.ErrFull)
		requireRecords(t, e, n)
		require.NoError(t, e.Present())
		files.write.Store(nil)
		require.Eventually(t, func() bool { return e.Room() == nil }, time.Minute, time.Millisecond)
	}
	requireRecords(t, e, n)
	files.breakWrites(syscall.ENOSPC, 0)
	require.NoError(t, put(e, n, 50))
	require.NoError(t, e.Close(), "the journal has what the store has no space for")
	e = openEngine(t, vfs.Default, dir)
	requireRecords(t, e, n+50)
	require.NoError(t, e.Close())
}

// TestWhatCannotBeReadIsNotAbsent: an error of a read is damage, and never "not there".
func TestWhatCannotBeReadIsNotAbsent(t *testing.T) {
	dir := t.TempDir()
	files := newFaulty()
	e := openEngine(t, files, dir)
	require.NoError(t, put(e, 0, 5_000))
	require.NoError(t, e.Close())
	e = openEngine(t, files, dir)
	eio := syscall.EIO
	files.read.Store(&eio)
	failed := 0
	for i := range 5_000 {
		_, found, err := e.Get(uint16(i%100), fmt.Append(nil, "key ", i))
		if err != nil {
			require.ErrorIs(t, err, engine.ErrCorrupt)
			failed++
			continue
		}
		require.True(t, found)
	}
	require.Positive(t, failed)
	files.read.Store(nil)
	requireRecords(t, e, 5_000)
	require.NoError(t, e.Close())
}

// TestALargeDamagedBlockIsSeenBeforePebbleSearchesIt: what is said is not Pebble's.
func TestALargeDamagedBlockIsSeenBeforePebbleSearchesIt(t *testing.T) {
	dir := t.TempDir()
	e := openEngine(t, vfs.Default, dir)
	value := []byte(strings.Repeat("a rather long value ", 50_000))
	require.NoError(t, e.Put(3, []byte("k"), record.Record{Version: record.Version{Seq: 7}, State: record.State{Type: record.String, Value: value}}))
	require.NoError(t, e.Close())
	names, err := filepath.Glob(filepath.Join(dir, "pebble", "*.sst"))
	require.NoError(t, err)
	for _, name := range names {
		content, err := os.ReadFile(name)
		require.NoError(t, err)
		if at := strings.Index(string(content), string(value)); at >= 0 {
			content[at+len(value)/2] ^= 4
			require.NoError(t, os.WriteFile(name, content, 0o600))
		}
	}
	e = openEngine(t, vfs.Default, dir)
	_, _, err = e.Get(3, []byte("k"))
	require.ErrorIs(t, err, engine.ErrCorrupt)
	require.ErrorContains(t, err, "checksum mismatch in the ")
	require.NoError(t, e.Close())
}

// TestWhatPebbleCallsFatalEndsTheEngine and neither the process nor its goroutine.
func TestWhatPebbleCallsFatalEndsTheEngine(t *testing.T) {
	failed := make(chan error, 1)
	l := logger{slog.New(slog.DiscardHandler), newGuard(func(err error) { failed <- err })}
	require.PanicsWithError(t, "pebble: it is 7", func() { l.Fatalf("it is %d", 7) }, "a call of ours gets the error")
	foreign := l.Fatalf
	go foreign("it is %d", 8)
	err := <-failed
	require.ErrorContains(t, err, "it is 8")
	require.ErrorContains(t, err, engine.Advice)
	_, dead := l.guard.trouble()
	require.Equal(t, err, dead)
	require.Error(t, l.guard.run(func() error { return errors.New("this is not called") }))
}
