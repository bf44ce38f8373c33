package journal

import (
	"bytes"
	"errors"
	"log/slog"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestRoomIsThere appends what Room promises, in operations of any length, with writes
// at any time. Nothing else may be needed of the disk: it is full.
func TestRoomIsThere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		d := newDisk()
		opt := Options{
			SegmentSize: rapid.Int64Range(2*blockSize, 8*blockSize).Draw(t, "segment"),
			Reserve:     rapid.Int64Range(0, 20*blockSize).Draw(t, "reserve"),
			frameSize:   rapid.SampledFrom([]int{256, 300, 1000, 5000, maxFrame}).Draw(t, "frame"),
			Logger:      slog.New(slog.DiscardHandler), FS: d, pause: time.Hour,
			Interval: time.Hour,
		}
		j, err := Open(opt, ignore)
		require.NoError(t, err)
		defer func() { _ = j.Close() }()
		d.mu.Lock()
		d.capacity = d.used()
		d.mu.Unlock()
		lengths := rapid.OneOf(rapid.IntRange(0, 100), rapid.IntRange(0, 3000), rapid.IntRange(0, 30000))
		var all [][]byte
		for {
			promised := j.Room()
			n := lengths.Draw(t, "length")
			op := bytes.Repeat([]byte{byte(n)}, n)
			_, err := j.Append(op)
			if int64(n)+Overhead > promised {
				require.ErrorIs(t, err, ErrFull)
				break
			}
			require.NoError(t, err)
			require.GreaterOrEqual(t, j.Room(), promised-int64(n)-Overhead)
			all = append(all, op)
			if rapid.Bool().Draw(t, "commit") {
				j.Commit(func(err error) { require.NoError(t, err) })
			}
		}
		require.EqualValues(t, len(all), j.Last(), "what does not fit is not staged")
		require.NoError(t, j.Close())
		j, err = Open(opt, func(seq uint64, op []byte) error {
			require.Equal(t, all[seq-1], op)
			return nil
		})
		require.NoError(t, err)
		require.EqualValues(t, len(all), j.Last())
	})
}

// TestAFullDiskRefusesAndRecovers fills the disk, and gives some of it back.
func TestAFullDiskRefusesAndRecovers(t *testing.T) {
	inModes(t, func(t *testing.T, opt Options) {
		var log lockedBuffer
		opt.Logger = slog.New(slog.NewTextHandler(&log, nil))
		d := opt.FS.(*disk)
		j, _ := reopen(t, opt)
		d.mu.Lock()
		d.capacity = d.used()
		d.mu.Unlock()
		count := fill(t, j)
		require.Less(t, j.Room(), int64(1000+Overhead))
		_, err := j.Append(make([]byte, 1000))
		require.ErrorIs(t, err, ErrFull)
		require.Eventually(t, func() bool { return log.contains("no space to prepare") }, time.Minute, time.Millisecond)

		// A full journal opens, though nothing can be appended.
		require.NoError(t, j.Close())
		j, played := reopen(t, opt)
		require.Len(t, played, count)
		require.Zero(t, j.Room())

		// A checkpoint brings its own space back, as far as segments are done with.
		require.NoError(t, j.Checkpoint(j.Last()))
		require.Eventually(t, func() bool { return j.Room() > 1000+Overhead }, time.Minute, time.Millisecond)
		add(t, j, "there is room again")
		require.Eventually(t, func() bool { return log.contains("there is space for the journal again") }, time.Minute, time.Millisecond)

		fill(t, j)
		d.mu.Lock()
		d.capacity = 0
		d.mu.Unlock()
		require.Eventually(t, func() bool { return j.Room() > 1000+Overhead }, time.Minute, time.Millisecond)
		add(t, j, "and again")
	})
}

// fill appends 1000 bytes for as long as there is room and returns how often.
func fill(t *testing.T, j *Journal) int {
	n := 0
	for j.Room() >= 1000+Overhead {
		add(t, j, string(make([]byte, 1000)))
		n++
	}
	return n
}

// TestALargeOperationGetsItsRoom appends more than is kept prepared.
func TestALargeOperationGetsItsRoom(t *testing.T) {
	inModes(t, func(t *testing.T, opt Options) {
		j, _ := reopen(t, opt)
		op := bytes.Repeat([]byte("large"), 30000)
		_, err := j.Append(op)
		require.ErrorIs(t, err, ErrFull)
		require.Eventually(t, func() bool { return j.Room() >= int64(len(op)+Overhead) }, time.Minute, time.Millisecond)
		add(t, j, string(op))
		require.NoError(t, j.Close())
		_, played := reopen(t, opt)
		require.Equal(t, string(op), played[1])
	})
}

// TestPreparationFails fails it in each of its steps.
func TestPreparationFails(t *testing.T) {
	for _, op := range []string{"create", "allocate", "write", "sync", "rename", "syncdir"} {
		for _, cause := range []error{syscall.ENOSPC, syscall.EMFILE, syscall.EIO} {
			inModes(t, func(t *testing.T, opt Options) {
				j, _ := reopen(t, opt)
				d := opt.FS.(*disk)
				d.mu.Lock()
				failed := make(chan struct{})
				d.fault = func(o, name string) error {
					if o == op && name != checkpointName {
						d.fault = nil
						close(failed)
						return cause
					}
					return nil
				}
				d.mu.Unlock()
				j.mu.Lock()
				j.largest = j.room.Load() + 1
				j.mu.Unlock()
				signal(j.shortened)
				<-failed
				if !errors.Is(cause, syscall.EIO) {
					require.Eventually(t, func() bool { return j.Room() > 7*blockSize }, time.Minute, time.Millisecond)
					add(t, j, "nothing has happened")
					require.NoError(t, j.Close())
					_, played := reopen(t, opt)
					require.Len(t, played, 1)
					return
				}
				require.Eventually(t, func() bool {
					_, err := j.Append(nil)
					return err != nil
				}, time.Minute, time.Millisecond)
				_, err := j.Append(nil)
				require.ErrorIs(t, err, ErrFailed)
				require.ErrorIs(t, err, syscall.EIO)
			})
		}
	}
}

// TestACheckpointThatCannotBeSaved fails it in each of its steps.
func TestACheckpointThatCannotBeSaved(t *testing.T) {
	for _, op := range []string{"create", "write", "sync", "rename", "syncdir"} {
		for _, cause := range []error{syscall.ENOSPC, syscall.EMFILE, syscall.EIO} {
			inModes(t, func(t *testing.T, opt Options) {
				j, _ := reopen(t, opt)
				add(t, j, "a", "b")
				require.NoError(t, j.Sync(t.Context()))
				d := opt.FS.(*disk)
				d.mu.Lock()
				d.fault = func(o, _ string) error {
					if o == op {
						d.fault = nil
						return cause
					}
					return nil
				}
				d.mu.Unlock()
				err := j.Checkpoint(1)
				if errors.Is(cause, syscall.EIO) {
					require.ErrorIs(t, err, ErrFailed)
					require.ErrorIs(t, j.Checkpoint(1), ErrFailed)
					return
				}
				require.ErrorIs(t, err, ErrFull)
				require.Zero(t, j.Checkpointed())
				require.NoError(t, j.Checkpoint(1), "there is space again")
				require.EqualValues(t, 1, j.Checkpointed())
				require.NoError(t, j.Close())
				_, played := reopen(t, opt)
				require.Equal(t, map[uint64]string{2: "b"}, played)
			})
		}
	}
}

// lockedBuffer is a log that several goroutines write.
type lockedBuffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *lockedBuffer) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *lockedBuffer) contains(s string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return bytes.Contains(l.b.Bytes(), []byte(s))
}
