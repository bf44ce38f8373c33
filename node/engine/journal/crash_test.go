package journal

import (
	"bytes"
	"context"
	"log/slog"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// machine is a journal on a disk, and what it must remember.
type machine struct {
	t    *rapid.T
	opt  Options
	disk *disk
	j    *Journal
	r    *rand.Rand

	mu sync.Mutex
	// ops are the operations in order: ops[i] has seq i+1.
	ops [][]byte
	// acked is the highest seq that a commit has reported.
	acked uint64
	// checkpoint is the last that was completed, attempted the highest that was begun.
	checkpoint, attempted uint64
}

// aftermath is what a crash leaves, and what must be found there.
type aftermath struct {
	disk *disk
	// least is the seq of an operation that must be there, durable of one that must be there
	// after a power cut, too.
	least, durable, checkpoint uint64
}

func newMachine(t *rapid.T) *machine {
	seed := rapid.Uint64().Draw(t, "seed")
	m := &machine{t: t, disk: newDisk(), r: rand.New(rand.NewPCG(seed, 0))}
	m.opt = Options{
		SegmentSize: rapid.SampledFrom([]int64{2 * blockSize, 3*blockSize + 100, 16 * blockSize}).Draw(t, "segment"),
		frameSize:   rapid.SampledFrom([]int{256, 1000, maxFrame}).Draw(t, "frame"),
		Reserve:     rapid.SampledFrom([]int64{0, 8 * blockSize}).Draw(t, "reserve"),
		Logger:      slog.New(slog.DiscardHandler),
		pause:       time.Millisecond,
	}
	if rapid.Bool().Draw(t, "interval") {
		m.opt.Interval = time.Millisecond
	}
	m.open(aftermath{disk: m.disk})
	return m
}

// open opens what is left after a crash, or a close, and checks it.
func (m *machine) open(left aftermath) {
	m.disk, m.opt.FS = left.disk, left.disk
	first, next := uint64(0), uint64(0)
	j, err := Open(m.opt, func(seq uint64, op []byte) error {
		if first == 0 {
			first, next = seq, seq
		}
		if seq != next || seq > uint64(len(m.ops)) || !bytes.Equal(op, m.ops[seq-1]) {
			m.t.Fatalf("operation %d: expected %d of %d, %d bytes", seq, next, len(m.ops), len(op))
		}
		next++
		return nil
	})
	require.NoError(m.t, err)
	m.j = j
	c := j.Checkpointed()
	require.GreaterOrEqual(m.t, c, left.checkpoint, "checkpoint")
	require.LessOrEqual(m.t, c, m.attempted, "checkpoint")
	if first == 0 {
		first, next = c+1, c+1
	}
	require.Equal(m.t, c+1, first, "first operation")
	require.Equal(m.t, j.Last(), next-1, "last operation")
	require.Equal(m.t, j.Last(), j.Durable())
	require.GreaterOrEqual(m.t, j.Last(), left.least, "lost")
	require.Equal(m.t, j.Size(), m.segmentBytes(), "size")
	m.ops = m.ops[:j.Last()]
	m.acked, m.checkpoint, m.attempted = j.Last(), c, c
}

// segmentBytes is what the segments have, by the disk. The preparer may be at work.
func (m *machine) segmentBytes() int64 {
	m.disk.mu.Lock()
	defer m.disk.mu.Unlock()
	sum := m.disk.used()
	for _, name := range []string{checkpointName, temporaryName} {
		if n := m.disk.names[name]; n != nil {
			sum -= int64(len(n.data))
		}
	}
	return sum
}

func (m *machine) append() {
	n := rapid.SampledFrom([]int{0, 1, 10, 100, 1000, 5000, 20000}).Draw(m.t, "length")
	op := make([]byte, n)
	for i := range op {
		op[i] = byte(m.r.Uint32())
	}
	cut := n / 3
	m.mu.Lock()
	m.ops = append(m.ops, op)
	m.mu.Unlock()
	seq, err := m.j.Append(op[:cut], nil, op[cut:])
	if err != nil {
		require.ErrorIs(m.t, err, ErrFull)
		m.ops = m.ops[:len(m.ops)-1]
		return
	}
	require.Equal(m.t, uint64(len(m.ops)), seq)
	require.Equal(m.t, seq, m.j.Last())
}

func (m *machine) commit() {
	last := m.j.Last()
	m.j.Commit(func(err error) {
		if err == nil {
			m.mu.Lock()
			defer m.mu.Unlock()
			m.acked = max(m.acked, last)
		}
	})
}

func (m *machine) sync() {
	last := m.j.Last()
	require.NoError(m.t, m.j.Sync(context.Background()))
	require.GreaterOrEqual(m.t, m.j.Durable(), last)
}

func (m *machine) checkpointAt() {
	seq := rapid.Uint64Range(m.j.Checkpointed(), m.j.Last()).Draw(m.t, "checkpoint")
	m.mu.Lock()
	m.attempted = max(m.attempted, seq)
	m.mu.Unlock()
	require.NoError(m.t, m.j.Checkpoint(seq))
	m.mu.Lock()
	m.checkpoint = max(m.checkpoint, seq)
	m.mu.Unlock()
	require.GreaterOrEqual(m.t, m.j.Durable(), seq)
}

func (m *machine) restart() {
	last := m.j.Last()
	require.NoError(m.t, m.j.Close())
	m.open(aftermath{m.disk, last, last, m.checkpoint})
}

// fork returns a generator for another goroutine.
func (m *machine) fork() *rand.Rand { return rand.New(rand.NewPCG(m.r.Uint64(), 0)) }

// crash arranges a crash in one of the next operations on the disk, goes on for a
// while, and opens what is left. With power the operating system survives.
func (m *machine) crash(power bool) {
	var left aftermath
	r := m.fork()
	m.disk.crashAt(rapid.IntRange(1, 40).Draw(m.t, "operations"), func(d *disk) {
		m.mu.Lock()
		defer m.mu.Unlock()
		left = aftermath{least: m.acked, durable: m.j.Durable(), checkpoint: m.checkpoint}
		if m.opt.Interval == 0 {
			left.durable = max(left.durable, m.acked)
		}
		if power {
			left.disk = d.afterKill()
			return
		}
		left.least = left.durable
		left.disk = d.afterPowerCut(r)
	})
	for range rapid.IntRange(0, 10).Draw(m.t, "more") {
		switch rapid.IntRange(0, 5).Draw(m.t, "what") {
		case 0:
			m.checkpointAt()
		case 1:
			m.commit()
		default:
			m.append()
		}
	}
	ended := rapid.Bool().Draw(m.t, "close")
	if ended {
		require.NoError(m.t, m.j.Close())
	}
	m.disk.crashNow()
	if !ended {
		_ = m.j.Close()
	}
	m.crashAgain(left)
}

// crashAgain crashes while the journal is opened, maybe, and then opens it.
func (m *machine) crashAgain(left aftermath) {
	if rapid.Bool().Draw(m.t, "again") {
		second := left
		second.least = left.durable
		r := m.fork()
		var opened atomic.Bool
		left.disk.crashAt(rapid.IntRange(1, 60).Draw(m.t, "operations"), func(d *disk) {
			if opened.Load() {
				second.least = m.j.Last() // what was found once must be found again
			}
			second.disk = d.afterPowerCut(r)
		})
		m.open(left)
		opened.Store(true)
		m.disk.crashNow()
		_ = m.j.Close()
		left = second
	}
	m.open(left)
}

// TestNothingIsLostThatWasPromised runs a journal through crashes at any operation on the disk.
// What is played back is always a prefix of what was appended, with all that was acknowledged.
func TestNothingIsLostThatWasPromised(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		m := newMachine(t)
		defer func() { _ = m.j.Close() }()
		t.Repeat(map[string]func(*rapid.T){
			"append":     func(*rapid.T) { m.append() },
			"append2":    func(*rapid.T) { m.append() },
			"append3":    func(*rapid.T) { m.append() },
			"commit":     func(*rapid.T) { m.commit() },
			"commit2":    func(*rapid.T) { m.commit() },
			"sync":       func(*rapid.T) { m.sync() },
			"checkpoint": func(*rapid.T) { m.checkpointAt() },
			"restart":    func(*rapid.T) { m.restart() },
			"kill":       func(*rapid.T) { m.crash(true) },
			"power cut":  func(*rapid.T) { m.crash(false) },
		})
	})
}
