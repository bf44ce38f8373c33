package journal

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// gate is a fault that counts operations of one kind and holds them up.
type gate struct {
	op      string
	entered chan struct{}
	pass    chan error
}

func newGate(d *disk, op string) *gate {
	g := &gate{op, make(chan struct{}), make(chan error)}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.fault = func(op, _ string) error {
		if op != g.op {
			return nil
		}
		g.entered <- struct{}{}
		return <-g.pass
	}
	return g
}

func TestManyCommitsShareOneSync(t *testing.T) {
	inModes(t, func(t *testing.T, opt Options) {
		opt.Interval = 0
		j, _ := reopen(t, opt)
		d := opt.FS.(*disk)
		g := newGate(d, "datasync")

		var order []int
		called := make(chan struct{}, 100)
		commit := func(i int) {
			_, err := j.Append([]byte("op"))
			require.NoError(t, err)
			j.Commit(func(err error) {
				require.NoError(t, err)
				order = append(order, i) // callbacks come one at a time
				called <- struct{}{}
			})
		}
		commit(0)
		<-g.entered // the first one is on its way: what comes now waits for the next
		for i := 1; i < 50; i++ {
			commit(i)
		}
		require.Empty(t, order)
		require.Zero(t, j.Durable())
		g.pass <- nil
		<-called
		require.EqualValues(t, 1, j.Durable())
		<-g.entered
		require.Equal(t, []int{0}, order)
		g.pass <- nil
		for range 49 {
			<-called
		}
		require.EqualValues(t, 50, j.Durable())
		for i, o := range order {
			require.Equal(t, i, o)
		}
		d.mu.Lock()
		d.fault = nil
		d.mu.Unlock()
	})
}

// TestACommitWithoutOperationsWaitsForThoseBefore shows that a reader's commit covers
// what others have staged.
func TestACommitWithoutOperationsWaitsForThoseBefore(t *testing.T) {
	inModes(t, func(t *testing.T, opt Options) {
		opt.Interval = 0
		j, _ := reopen(t, opt)
		called := 0
		j.Commit(func(error) { called++ })
		require.Equal(t, 1, called, "nothing to wait for")

		d := opt.FS.(*disk)
		g := newGate(d, "datasync")
		add := make(chan struct{})
		_, err := j.Append([]byte("op"))
		require.NoError(t, err)
		j.Commit(func(error) {})
		<-g.entered
		j.Commit(func(error) { close(add) })
		select {
		case <-add:
			t.Fatal("called back before the sync")
		default:
		}
		d.fault = nil // the gate holds the disk
		g.pass <- nil
		<-add
	})
}

// TestCallbacksMayCommitAgain runs a chain of commits, each from the callback of the
// one before.
func TestCallbacksMayCommitAgain(t *testing.T) {
	inModes(t, func(t *testing.T, opt Options) {
		opt.SegmentSize = 256 * blockSize
		j, _ := reopen(t, opt)
		const chain = 2000
		finished := make(chan struct{})
		var depth, deepest int
		var next func(i int) func(error)
		next = func(i int) func(error) {
			return func(err error) {
				depth++
				deepest = max(deepest, depth)
				defer func() { depth-- }()
				require.NoError(t, err)
				if i == chain {
					close(finished)
					return
				}
				_, err = j.Append([]byte("again"))
				require.NoError(t, err)
				j.Commit(next(i + 1))
			}
		}
		j.Commit(next(1))
		<-finished
		require.Equal(t, 1, deepest)
	})
}

func TestWithAnIntervalTheCommitterWrites(t *testing.T) {
	opt := Options{Interval: time.Hour, SegmentSize: 4 * blockSize, FS: newDisk()}
	j, _ := reopen(t, opt)
	_, err := j.Append([]byte("op"))
	require.NoError(t, err)
	called := false
	j.Commit(func(err error) { called = err == nil })
	require.True(t, called)
	require.Zero(t, j.Durable(), "written, not durable")
	require.NoError(t, j.Sync(context.Background()))
	require.EqualValues(t, 1, j.Durable())
}

func TestWithAnIntervalSyncsComeByThemselves(t *testing.T) {
	opt := Options{Interval: time.Millisecond, SegmentSize: 4 * blockSize, FS: newDisk()}
	j, _ := reopen(t, opt)
	add(t, j, "op")
	require.Eventually(t, func() bool { return j.Durable() == 1 }, time.Minute, time.Millisecond)
}

func TestTheEndOfAContextEndsTheWaiting(t *testing.T) {
	inModes(t, func(t *testing.T, opt Options) {
		j, _ := reopen(t, opt)
		d := opt.FS.(*disk)
		g := newGate(d, "datasync")
		_, err := j.Append([]byte("op"))
		require.NoError(t, err)
		ctx, cancel := context.WithCancel(context.Background())
		result := make(chan error)
		go func() { result <- j.Sync(ctx) }()
		<-g.entered
		cancel()
		require.ErrorIs(t, <-result, context.Canceled)
		d.fault = nil // the gate holds the disk
		g.pass <- nil
	})
}

// TestAnErrorIsFinal fails a write or an fdatasync once. Nothing is tried again: the
// second fdatasync would succeed, and lie.
func TestAnErrorIsFinal(t *testing.T) {
	for _, op := range []string{"write", "datasync"} {
		inModes(t, func(t *testing.T, opt Options) {
			j, _ := reopen(t, opt)
			add(t, j, "fine")
			require.NoError(t, j.Sync(context.Background()))
			var failed atomic.Bool
			d := opt.FS.(*disk)
			d.mu.Lock()
			d.fault = func(o, _ string) error {
				if o == op && !failed.Swap(true) {
					return syscall.EIO
				}
				return nil
			}
			d.mu.Unlock()

			_, err := j.Append([]byte("lost"))
			require.NoError(t, err)
			require.ErrorIs(t, j.Sync(context.Background()), ErrFailed)
			require.True(t, failed.Load())
			_, err = j.Append([]byte("more"))
			require.ErrorIs(t, err, ErrFailed)
			require.ErrorIs(t, err, syscall.EIO)
			committed := make(chan error, 1)
			j.Commit(func(err error) { committed <- err })
			require.ErrorIs(t, <-committed, ErrFailed)
			require.ErrorIs(t, j.Sync(context.Background()), ErrFailed)
			require.ErrorIs(t, j.Checkpoint(1), ErrFailed)
			require.ErrorIs(t, j.syncWritten(), ErrFailed)
			require.EqualValues(t, 1, j.Durable())
			require.ErrorIs(t, j.Close(), ErrFailed)
		})
	}
}

func TestEveryCommitIsCalledBackOnce(t *testing.T) {
	inModes(t, func(t *testing.T, opt Options) {
		opt.SegmentSize = 1024 * blockSize
		j, _ := reopen(t, opt)
		const committers, each = 20, 200
		var called [committers * each]atomic.Int32
		var all, callbacks sync.WaitGroup
		callbacks.Add(committers * each / 2)
		for c := range committers {
			all.Go(func() {
				for i := range each {
					if i%3 == 0 {
						if _, err := j.Append(make([]byte, i)); err != nil {
							t.Error(err)
						}
					}
					j.Commit(func(err error) {
						if err != nil && !errors.Is(err, ErrClosed) {
							t.Error(err)
						}
						if called[c*each+i].Add(1) == 1 && i < each/2 {
							callbacks.Done()
						}
					})
					if i == each/2 && c == 0 {
						// Syncs and closes go together with all that.
						if err := j.Sync(context.Background()); err != nil {
							t.Error(err)
						}
					}
				}
			})
		}
		all.Wait()
		require.NoError(t, j.Close())
		callbacks.Wait()
		for i := range called {
			require.EqualValues(t, 1, called[i].Load())
		}
		_, played := reopen(t, opt)
		require.Len(t, played, committers*((each+2)/3))
	})
}

// TestTheSteadyStateDoesNotAllocate counts what appending and committing takes.
func TestTheSteadyStateDoesNotAllocate(t *testing.T) {
	opt := Options{Dir: t.TempDir(), Interval: time.Hour}
	j, _ := reopen(t, opt)
	op, done := make([]byte, 1024), func(error) {}
	require.Zero(t, testing.AllocsPerRun(200, func() {
		_, _ = j.Append(op, op)
		j.Commit(done)
	}))
}
