package journal

import (
	"errors"
	"fmt"
	"io/fs"
	"sync"
	"sync/atomic"
)

// Journal is an open journal. Its methods may be called at the same time, by commits'
// callbacks too except those that wait: Sync, Checkpoint and Close.
type Journal struct {
	opt Options
	fs  FileSystem
	id  uint64

	last, durable, checkpointed atomic.Uint64
	room, size                  atomic.Int64

	mu     sync.Mutex
	failed error
	closed bool
	// next gathers what is appended; free is the other batch while nobody writes it.
	next, free *batch
	// writing is set while somebody has the role of the writer, or is to be given it
	// through wake. idle is signalled when it is cleared.
	writing bool
	idle    *sync.Cond
	// live are the segments that are needed, in order. The last one is written to, ahead
	// are those that come next, spare those that were needed once.
	live, ahead, spare []*segment
	// offset is where in the last live segment the next byte goes, staged ones included.
	offset int64
	// number is that of the next segment to be made.
	number uint64
	// filling: new files are written once before they are used. It belongs to whoever
	// prepares segments; Open does not take the time.
	filling bool
	// largest is what the largest operation that did not fit would have taken.
	largest int64
	// written is the last seq in the files, dirty are the segments with writes that are
	// not synced: all of them but the last are sealed.
	written uint64
	dirty   []*segment

	// syncing serialises fdatasyncs. It is taken before mu.
	syncing sync.Mutex
	// saving serialises writing the checkpoint file. It is taken before syncing.
	saving sync.Mutex
	// taking is held while a checkpoint is written and while a segment asks for its space: an attempt that
	// fails takes for a moment all that the disk has. It is taken last.
	taking sync.Mutex
	// syncList is memory that belongs to whoever has syncing.
	syncList []*segment

	wake, dirtied, shortened chan struct{}
	stop                     chan struct{}
	goroutines               sync.WaitGroup
}

// Last returns the seq of the last operation that was appended, 0 before the first.
func (j *Journal) Last() uint64 { return j.last.Load() }

// Durable returns a seq up to which everything is durable.
func (j *Journal) Durable() uint64 { return j.durable.Load() }

// Checkpointed returns the seq of the last checkpoint.
func (j *Journal) Checkpointed() uint64 { return j.checkpointed.Load() }

// Room returns how many bytes can certainly be appended, now and without any space
// being found on the disk; an operation counts with its length and Overhead. Since
// nothing is appended beyond that, it also bounds the memory that is taken by what
// is staged. It does not block.
func (j *Journal) Room() int64 { return j.room.Load() }

// Size returns what the segments take of the disk in bytes. It does not block.
func (j *Journal) Size() int64 { return j.size.Load() }

// Append stages an operation, the concatenation of parts, which are copied. It does no
// I/O and does not wait for any. The operation is not written before a Commit, Sync or
// Close. After an error (ErrFull, ErrTooLarge, ErrFailed, ErrClosed, wrapped) nothing was
// staged.
func (j *Journal) Append(parts ...[]byte) (seq uint64, err error) {
	n := 0
	for _, p := range parts {
		n += len(p)
	}
	if n > MaxOp {
		return 0, fmt.Errorf("%w: %d bytes, at most %d", ErrTooLarge, n, MaxOp)
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	if err := j.usableNow(); err != nil {
		return 0, err
	}
	if room := j.room.Load(); int64(n)+Overhead > room {
		j.largest = max(j.largest, int64(n)+Overhead)
		signal(j.shortened)
		return 0, fmt.Errorf("%w: an operation of %d bytes, and the journal has %d bytes prepared; "+
			"free some disk space", ErrFull, n, room)
	}
	j.stage(parts, n)
	return j.last.Add(1), nil
}

// usableNow says why nothing can be appended or committed. The caller has the mutex.
func (j *Journal) usableNow() error {
	if j.closed {
		return ErrClosed
	}
	return j.failed
}

// fail notes the first failure, which is final, and returns it.
func (j *Journal) fail(what string, cause error) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if errors.Is(cause, fs.ErrNotExist) { // all that it looks for was there
		cause = fmt.Errorf("%w: %w", ErrGone, cause)
	}
	if j.failed == nil {
		j.failed = fmt.Errorf("%w: %s: %w", ErrFailed, what, cause)
		j.opt.Logger.Error("the journal failed and takes no more operations; check the disk, then start again",
			"failed", what, "error", cause)
	}
	return j.failed
}

// signal wakes whoever waits for a channel of capacity 1, or will.
func signal(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
