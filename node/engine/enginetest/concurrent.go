package enginetest

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

// testConcurrentSlots is meant for the race detector.
func testConcurrentSlots(t *testing.T, e engine.Engine) {
	const workers, rounds = 8, 300
	var work, watch sync.WaitGroup
	errs := make([]error, workers)
	for worker := range workers {
		work.Go(func() {
			slot := uint16(worker)
			for i := range rounds {
				errs[worker] = errors.Join(errs[worker],
					e.PutSlot(slot, record.SlotMeta{Epoch: uint64(i)}),
					e.Put(slot, keyNumber(i), text(uint64(i)+1, fmt.Sprint("value ", i))),
					e.Delete(slot, keyNumber(i-10)),
					e.Scan(slot, 0, func(engine.Position, []byte, record.Record) bool { return i%10 == 0 }),
				)
				_, _, err := e.Get(slot, keyNumber(i/2))
				errs[worker] = errors.Join(errs[worker], err)
			}
		})
	}
	stop := make(chan struct{})
	var totalsErr error
	watch.Go(func() {
		for {
			select {
			case <-stop:
				return
			default:
				_, err := e.Totals()
				totalsErr = errors.Join(totalsErr, err)
			}
		}
	})
	work.Wait()
	close(stop)
	watch.Wait()

	require.NoError(t, errors.Join(errs...))
	require.NoError(t, totalsErr)
	want := map[string]record.Record{}
	for i := rounds - 10; i < rounds; i++ {
		want[string(keyNumber(i))] = text(uint64(i)+1, fmt.Sprint("value ", i))
	}
	for worker := range workers {
		requireContents(t, e, uint16(worker), want)
	}
	totals, err := e.Totals()
	require.NoError(t, err)
	require.Equal(t, uint64(10*workers), totals.Live)
}

// testScanSeesOneState scans slots while others are written, and commits between: what a
// scan shows is the state that the slot had at the call, whatever the engine does with
// it in the background. Each write changes the whole slot, a state at a time.
func testScanSeesOneState(t *testing.T, e engine.Engine) {
	const workers, rounds, keys = 4, 20, 300
	var work sync.WaitGroup
	errs := make([]error, workers)
	for worker := range workers {
		work.Go(func() { errs[worker] = rewrite(e, uint16(worker), rounds, keys) })
	}
	work.Wait()
	require.NoError(t, errors.Join(errs...))
}

func rewrite(e engine.Engine, slot uint16, rounds, keys int) error {
	for round := range rounds {
		want := text(uint64(round), fmt.Sprint("round ", round))
		for i := range keys {
			if err := e.Put(slot, keyNumber(i), want); err != nil {
				return err
			}
		}
		e.Commit(func(error) {})
		seen := 0
		wrong := error(nil)
		err := e.Scan(slot, 0, func(_ engine.Position, key []byte, rec record.Record) bool {
			seen++
			if !equalRecords(want, rec) {
				wrong = fmt.Errorf("slot %d round %d: %q is %v", slot, round, key, rec)
			}
			return wrong == nil
		})
		if err = errors.Join(err, wrong); err != nil {
			return err
		}
		if seen != keys {
			return fmt.Errorf("slot %d round %d: %d keys of %d", slot, round, seen, keys)
		}
	}
	return nil
}

func testCommitCallsBackOnce(t *testing.T, e engine.Engine) {
	const workers, rounds = 4, 50
	var calls [workers][rounds]atomic.Int32
	var work, pending sync.WaitGroup
	pending.Add(workers * rounds)
	var failed atomic.Pointer[error]
	for worker := range workers {
		work.Go(func() {
			for i := range rounds {
				if err := e.Put(uint16(worker), keyNumber(i), text(1, "value")); err != nil {
					failed.Store(&err)
				}
				e.Commit(func(err error) {
					if err != nil {
						failed.Store(&err)
					}
					calls[worker][i].Add(1)
					pending.Done()
				})
			}
		})
	}
	work.Wait()
	pending.Wait()
	for worker := range workers {
		for i := range rounds {
			require.Equal(t, int32(1), calls[worker][i].Load())
		}
	}
	if err := failed.Load(); err != nil {
		require.NoError(t, *err)
	}
}

// testCommitCoversEveryWrite commits each kind of write, and nothing at all.
func testCommitCoversEveryWrite(t *testing.T, e engine.Engine) {
	commit(t, e)
	commit(t, e)
	require.NoError(t, e.PutSlot(1, record.SlotMeta{Epoch: 1}))
	commit(t, e)
	contents := put(t, e, 1, 10)
	commit(t, e)
	requireContents(t, e, 1, contents)
	require.NoError(t, e.Delete(1, keyNumber(0)))
	commit(t, e)
	require.NoError(t, e.Clear(1, record.SlotMeta{Cleared: version(5)}))
	commit(t, e)
	for i := range 5 {
		delete(contents, string(keyNumber(i)))
	}
	requireContents(t, e, 1, contents)
	requireMeta(t, e, 1, record.SlotMeta{Cleared: version(5)})
}

// commit waits until what was staged is durable.
func commit(t require.TestingT, e engine.Engine) {
	done := make(chan error, 1)
	e.Commit(func(err error) { done <- err })
	require.NoError(t, <-done)
}

func testClosed(t *testing.T, e engine.Engine) {
	put(t, e, 1, 10)
	require.NoError(t, e.Close())
	for name, err := range calls(e, 1) {
		require.ErrorIs(t, err, engine.ErrClosed, name)
	}
	_, err := e.Totals()
	require.ErrorIs(t, err, engine.ErrClosed)
	done := make(chan error, 1)
	e.Commit(func(err error) { done <- err })
	require.ErrorIs(t, <-done, engine.ErrClosed)
	require.ErrorIs(t, e.Close(), engine.ErrClosed)
}
