package journal

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"github.com/quolldb/quoll/node/engine"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// modes are the two kinds of durability.
var modes = map[string]time.Duration{"always": 0, "interval": time.Millisecond}

func inModes(t *testing.T, test func(t *testing.T, opt Options)) {
	for name, interval := range modes {
		t.Run(name, func(t *testing.T) {
			test(t, Options{
				Interval: interval, SegmentSize: 4 * blockSize, Logger: slog.New(slog.DiscardHandler),
				FS: newDisk(), pause: time.Millisecond,
			})
		})
	}
}

// reopen opens a journal and returns what was played back. It is closed with the test.
func reopen(t testing.TB, opt Options) (*Journal, map[uint64]string) {
	t.Helper()
	played := map[uint64]string{}
	j, err := Open(opt, func(seq uint64, op []byte) error {
		played[seq] = string(op)
		return nil
	})
	require.NoError(t, err)
	t.Cleanup(func() { _ = j.Close() })
	return j, played
}

// add appends operations and commits them.
func add(t testing.TB, j *Journal, ops ...string) {
	t.Helper()
	for _, op := range ops {
		_, err := j.Append([]byte(op))
		require.NoError(t, err)
	}
	commit := make(chan error, 1)
	j.Commit(func(err error) { commit <- err })
	require.NoError(t, <-commit)
}

func TestWhatIsAppendedIsPlayedBack(t *testing.T) {
	for name, interval := range modes {
		t.Run(name, func(t *testing.T) {
			opt := Options{Dir: filepath.Join(t.TempDir(), "journal"), Interval: interval, SegmentSize: 4 * blockSize}
			j, played := reopen(t, opt)
			require.Empty(t, played)
			require.Zero(t, j.Last())

			long := string(bytes.Repeat([]byte("0123456789"), 2000)) // more than a segment
			opt.Reserve = 8 * blockSize
			require.NoError(t, j.Close())
			opt.MustExist = true
			j, _ = reopen(t, opt)
			seq, err := j.Append([]byte("o"), nil, []byte("ne"))
			require.NoError(t, err)
			require.EqualValues(t, 1, seq)
			add(t, j, "", long)
			require.EqualValues(t, 3, j.Last())
			require.NoError(t, j.Sync(context.Background()))
			require.EqualValues(t, 3, j.Durable())
			_, err = j.Append([]byte("not committed, but closed"))
			require.NoError(t, err)
			require.NoError(t, j.Close())

			j, played = reopen(t, opt)
			require.Equal(t, map[uint64]string{1: "one", 2: "", 3: long, 4: "not committed, but closed"}, played)
			require.EqualValues(t, 4, j.Last())
			require.EqualValues(t, 4, j.Durable())
		})
	}
}

func TestAfterACheckpointTheRestIsPlayedBack(t *testing.T) {
	inModes(t, func(t *testing.T, opt Options) {
		j, _ := reopen(t, opt)
		add(t, j, "a", "b", "c")
		require.NoError(t, j.Checkpoint(2))
		require.NoError(t, j.Checkpoint(1), "what is behind it is done already")
		require.EqualValues(t, 2, j.Checkpointed())
		require.ErrorContains(t, j.Checkpoint(4), "after the last operation")
		require.NoError(t, j.Close())

		j, played := reopen(t, opt)
		require.Equal(t, map[uint64]string{3: "c"}, played)
		require.EqualValues(t, 2, j.Checkpointed())
		require.NoError(t, j.Checkpoint(3))
		require.NoError(t, j.Close())
		j, played = reopen(t, opt)
		require.Empty(t, played)
		require.EqualValues(t, 3, j.Last())
		add(t, j, "d")
		require.EqualValues(t, 4, j.Last())
	})
}

func TestACheckpointMakesDurableWhatItCovers(t *testing.T) {
	inModes(t, func(t *testing.T, opt Options) {
		j, _ := reopen(t, opt)
		_, err := j.Append([]byte("a"))
		require.NoError(t, err)
		require.NoError(t, j.Checkpoint(1))
		require.EqualValues(t, 1, j.Durable())
	})
}

// TestSegmentsAreRecycled appends many times what the journal may keep.
func TestSegmentsAreRecycled(t *testing.T) {
	inModes(t, func(t *testing.T, opt Options) {
		created := 0
		opt.FS.(*disk).fault = func(op, name string) error {
			if op == "allocate" {
				created++
			}
			return nil
		}
		j, _ := reopen(t, opt)
		op := bytes.Repeat([]byte("x"), 1000)
		for i := range 1000 {
			require.Eventually(t, func() bool { return j.Room() > 2000 }, time.Minute, 10*time.Microsecond)
			_, err := j.Append(op)
			require.NoError(t, err)
			if i%10 == 0 {
				require.NoError(t, j.Checkpoint(j.Last()))
			}
		}
		require.NoError(t, j.Close())
		// One that is written to, one that is kept from the retired ones for each that may be
		// spare, one or two ahead: about a hundred were filled.
		require.LessOrEqual(t, j.Size(), 6*opt.SegmentSize)
		require.LessOrEqual(t, created, 6)
	})
}

// TestASegmentIsNeededUntilItsSealIsDurable makes a checkpoint above all operations of a
// segment whose seal is only staged.
func TestASegmentIsNeededUntilItsSealIsDurable(t *testing.T) {
	inModes(t, func(t *testing.T, opt Options) {
		if opt.Interval > 0 {
			opt.Interval = time.Hour
		}
		j, _ := reopen(t, opt)
		segments := func() int {
			j.mu.Lock()
			defer j.mu.Unlock()
			return len(j.live)
		}
		// Three fill a segment, and none is split.
		for segments() < 3 {
			require.NoError(t, j.Sync(t.Context()))
			require.Eventually(t, func() bool { return j.Room() > 5000 }, time.Minute, time.Millisecond)
			_, err := j.Append(make([]byte, 4010))
			require.NoError(t, err)
		}
		require.NoError(t, j.Checkpoint(j.Durable()))
		require.EqualValues(t, 2, j.live[0].number)
		require.NoError(t, j.Sync(t.Context()))
		require.NoError(t, j.Checkpoint(j.Last()))
		require.EqualValues(t, 3, j.live[0].number)
	})
}

func TestSpareSegmentsAreBounded(t *testing.T) {
	inModes(t, func(t *testing.T, opt Options) {
		opt.Spare, opt.Reserve = 1, 40*opt.SegmentSize
		j, _ := reopen(t, opt)
		op := string(bytes.Repeat([]byte("x"), 1000))
		for range 100 {
			add(t, j, op)
		}
		require.NoError(t, j.Checkpoint(j.Last()))
		require.NoError(t, j.Checkpoint(j.Last()))
		require.NoError(t, j.Close())
		require.LessOrEqual(t, len(j.spare), 1)
		names, err := opt.FS.Names()
		require.NoError(t, err)
		require.Len(t, names, 1+len(j.live)+len(j.ahead)+len(j.spare), "%v", names)
		require.EqualValues(t, int64(len(names)-1)*opt.SegmentSize, j.Size())
		_, _ = reopen(t, opt)
	})
}

func TestAClosedJournalIsClosed(t *testing.T) {
	inModes(t, func(t *testing.T, opt Options) {
		j, _ := reopen(t, opt)
		require.NoError(t, j.Close())
		require.ErrorIs(t, j.Close(), engine.ErrClosed)
		_, err := j.Append(nil)
		require.ErrorIs(t, err, engine.ErrClosed)
		require.ErrorIs(t, j.Sync(context.Background()), engine.ErrClosed)
		require.ErrorIs(t, j.Checkpoint(0), engine.ErrClosed)
		called := 0
		j.Commit(func(err error) {
			called++
			require.ErrorIs(t, err, engine.ErrClosed)
		})
		require.Equal(t, 1, called)
	})
}

func TestOperationsHaveALimit(t *testing.T) {
	inModes(t, func(t *testing.T, opt Options) {
		j, _ := reopen(t, opt)
		_, err := j.Append(make([]byte, MaxOp), []byte("x"))
		require.ErrorIs(t, err, ErrTooLarge)
		require.Zero(t, j.Last())
	})
}

func TestAnErrorOfReplayEndsOpen(t *testing.T) {
	inModes(t, func(t *testing.T, opt Options) {
		j, _ := reopen(t, opt)
		add(t, j, "a", "b")
		require.NoError(t, j.Close())
		_, err := Open(opt, func(seq uint64, _ []byte) error { return fmt.Errorf("no %d", seq) })
		require.ErrorContains(t, err, "no 1")
		_, played := reopen(t, opt)
		require.Len(t, played, 2)
	})
}

func TestNothingIsNoJournalIfThereMustBeOne(t *testing.T) {
	dir := t.TempDir()
	for _, path := range []string{dir, filepath.Join(dir, "missing")} {
		_, err := Open(Options{Dir: path, MustExist: true}, ignore)
		require.ErrorIs(t, err, ErrCorrupt)
		require.ErrorIs(t, err, engine.ErrCorrupt)
		require.ErrorContains(t, err, path)
	}
	names, err := os.ReadDir(dir)
	require.NoError(t, err)
	require.Empty(t, names)
}

// TestADirectoryIsNeverMistaken opens what is there but is no journal.
func TestADirectoryIsNeverMistaken(t *testing.T) {
	dir := t.TempDir()
	opt := Options{Dir: filepath.Join(dir, "file"), SegmentSize: 4 * blockSize}
	require.NoError(t, os.WriteFile(opt.Dir, nil, 0o600))
	_, err := Open(opt, ignore)
	require.Error(t, err)

	opt.Dir = filepath.Join(dir, "foreign")
	require.NoError(t, os.Mkdir(opt.Dir, 0o700))
	require.NoError(t, os.WriteFile(filepath.Join(opt.Dir, "letter.txt"), nil, 0o600))
	_, err = Open(opt, ignore)
	require.ErrorIs(t, err, ErrCorrupt)
	require.ErrorContains(t, err, "letter.txt")
}
