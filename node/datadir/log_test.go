package datadir

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestALogIsBegunOnce(t *testing.T) {
	path, _ := newDir(t)
	d := mustOpen(t, options(path, FsyncAlways))
	log, begun, err := d.Log()
	require.NoError(t, err)
	require.False(t, begun)
	require.Equal(t, filepath.Join(path, "consensus"), log)
	file := filepath.Join(log, "raft")
	require.NoError(t, os.WriteFile(file, []byte("x"), 0o600))
	require.NoError(t, d.Close(false))

	// The process ended before it said so: nobody has heard of what is there.
	d = mustOpen(t, options(path, FsyncAlways))
	_, begun, err = d.Log()
	require.NoError(t, err)
	require.False(t, begun)
	require.NoFileExists(t, file)
	require.NoError(t, os.WriteFile(file, []byte("y"), 0o600))
	require.NoError(t, d.LogBegun())
	for _, clean := range []bool{false, true} {
		_, begun, err = d.Log()
		require.NoError(t, err)
		require.True(t, begun)
		require.FileExists(t, file)
		require.NoError(t, d.Close(clean))
		d = mustOpen(t, options(path, FsyncAlways))
	}
	require.NoError(t, os.RemoveAll(log))
	_, begun, err = d.Log()
	require.NoError(t, err)
	require.True(t, begun, "it is missed")
	require.NoError(t, d.Close(true))
	_, _, err = d.Log()
	require.ErrorContains(t, err, "closed")
	require.ErrorContains(t, d.LogBegun(), "closed")
}

// TestAnotherGenerationHasAnotherLog: what a life knew that lost its state is not this one's.
func TestAnotherGenerationHasAnotherLog(t *testing.T) {
	path, generation := newDir(t)
	d := mustOpen(t, options(path, FsyncInterval))
	log, _, err := d.Log()
	require.NoError(t, err)
	require.NoError(t, d.LogBegun())
	require.NoError(t, os.WriteFile(filepath.Join(log, "raft"), nil, 0o600))
	require.NoError(t, d.Close(false))
	opt := options(path, FsyncAlways)
	opt.BootID = "tuesday"
	d = mustOpen(t, opt)
	defer d.Close(true)
	require.NotEqual(t, generation, d.Generation())
	_, begun, err := d.Log()
	require.NoError(t, err)
	require.False(t, begun)
	require.NoFileExists(t, filepath.Join(log, "raft"))
}
