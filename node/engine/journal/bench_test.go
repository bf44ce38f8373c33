package journal

import (
	"fmt"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func ignore(uint64, []byte) error { return nil }

// BenchmarkCommit is appending 1 KiB and waiting for its commit. The segments are
// recycled, as they are when an engine makes checkpoints.
func BenchmarkCommit(b *testing.B) {
	for _, interval := range []time.Duration{0, 100 * time.Millisecond} {
		for _, committers := range []int{1, 50} {
			b.Run(fmt.Sprintf("interval=%v/committers=%d", interval, committers), func(b *testing.B) {
				j, err := Open(Options{Dir: b.TempDir(), SegmentSize: 16 << 20, Interval: interval, Spare: 8}, ignore)
				require.NoError(b, err)
				stop := checkpoints(j)
				b.ReportAllocs()
				b.SetBytes(1024)
				b.ResetTimer()
				times := commit(b, j, committers)
				b.StopTimer()
				slices.Sort(times)
				b.ReportMetric(float64(times[len(times)*99/100].Microseconds()), "p99-µs")
				close(stop)
				require.NoError(b, j.Close())
			})
		}
	}
}

// commit has all committers do their part and returns how long each commit took.
func commit(b *testing.B, j *Journal, committers int) []time.Duration {
	times := make([]time.Duration, b.N)
	var all sync.WaitGroup
	for c := range committers {
		all.Go(func() {
			op := make([]byte, 1024)
			committed := make(chan error, 1)
			done := func(err error) { committed <- err }
			for i := c; i < b.N; i += committers {
				began := time.Now()
				for _, err := j.Append(op); err != nil; _, err = j.Append(op) {
					runtime.Gosched() // the preparer is behind
				}
				j.Commit(done)
				if err := <-committed; err != nil {
					b.Error(err)
					return
				}
				times[i] = time.Since(began)
			}
		})
	}
	all.Wait()
	return times
}

// checkpoints makes one whenever the journal is large, until the channel is closed.
func checkpoints(j *Journal) chan struct{} {
	stop := make(chan struct{})
	go func() {
		for {
			select {
			case <-stop:
				return
			case <-time.After(5 * time.Millisecond):
				if j.Last()-j.Checkpointed() > 64<<10 {
					_ = j.Checkpoint(j.Durable())
				}
			}
		}
	}()
	return stop
}

// BenchmarkAppend is staging alone, 64 operations to a commit that is written but not synced.
func BenchmarkAppend(b *testing.B) {
	j, err := Open(Options{Dir: b.TempDir(), SegmentSize: 16 << 20, Interval: time.Minute, Spare: 8}, ignore)
	require.NoError(b, err)
	stop := checkpoints(j)
	op := make([]byte, 128)
	b.ReportAllocs()
	for i := range b.N {
		for _, err := j.Append(op); err != nil; _, err = j.Append(op) {
			runtime.Gosched()
		}
		if i%64 == 0 {
			j.Commit(func(error) {})
		}
	}
	b.StopTimer()
	close(stop)
	require.NoError(b, j.Close())
}

// BenchmarkRecover is opening a journal with 256 MiB of operations of 1 KiB.
func BenchmarkRecover(b *testing.B) {
	opt := Options{Dir: b.TempDir(), Interval: time.Minute}
	j, err := Open(opt, ignore)
	require.NoError(b, err)
	const ops = 256 << 10
	op := make([]byte, 1024)
	for i := range ops {
		for _, err := j.Append(op); err != nil; _, err = j.Append(op) {
			time.Sleep(time.Millisecond)
		}
		if i%8 == 0 {
			j.Commit(func(error) {})
		}
	}
	require.NoError(b, j.Close())
	b.SetBytes(ops * 1024)
	for b.Loop() {
		n := 0
		j, err := Open(opt, func(uint64, []byte) error { n++; return nil })
		require.NoError(b, err)
		require.Equal(b, ops, n)
		require.NoError(b, j.Close())
	}
}
