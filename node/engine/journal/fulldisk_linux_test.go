package journal

import (
	"log/slog"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestARealDiskIsFull runs a journal on a small tmpfs that somebody else fills.
func TestARealDiskIsFull(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("mounting a tmpfs needs root")
	}
	mount := t.TempDir()
	if err := syscall.Mount("tmpfs", mount, "tmpfs", 0, "size=4m"); err != nil {
		t.Skipf("no tmpfs: %v", err)
	}
	t.Cleanup(func() { require.NoError(t, syscall.Unmount(mount, 0)) })
	opt := Options{
		Dir: filepath.Join(mount, "journal"), SegmentSize: 1 << 20, Interval: time.Millisecond,
		Logger: slog.New(slog.DiscardHandler), pause: time.Millisecond,
	}
	j, _ := reopen(t, opt)
	ballast := filepath.Join(mount, "ballast")
	f, err := os.Create(ballast)
	require.NoError(t, err)
	for err == nil {
		_, err = f.Write(make([]byte, 4096))
	}
	require.ErrorIs(t, err, syscall.ENOSPC)
	require.NoError(t, f.Close())

	count := fill(t, j)
	require.Greater(t, count, 1500, "all that was prepared can be used on a full disk")
	_, err = j.Append(make([]byte, 1000))
	require.ErrorIs(t, err, ErrFull)
	require.NoError(t, j.Sync(t.Context()))
	require.ErrorIs(t, j.Checkpoint(1), ErrFull, "the file needs space, too")
	require.NoError(t, j.Close())

	_, err = Open(Options{Dir: filepath.Join(mount, "another"), Logger: opt.Logger}, ignore)
	require.ErrorIs(t, err, ErrFull, "a new journal needs space")
	j, played := reopen(t, opt)
	require.Len(t, played, count)

	require.NoError(t, os.Remove(ballast))
	require.Eventually(t, func() bool { return j.Room() > 1000+Overhead }, time.Minute, time.Millisecond)
	add(t, j, "there is space again")
	require.NoError(t, j.Checkpoint(j.Last()))
	require.NoError(t, j.Close())
	j, played = reopen(t, opt)
	require.Empty(t, played)
	require.NoError(t, j.Close())
}
