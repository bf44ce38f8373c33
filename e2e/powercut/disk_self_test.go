//go:build linux

package powercut

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDiskForgetsWhatWasNotSynced: a disk that loses its power has what was synced, and
// only that.
func TestDiskForgetsWhatWasNotSynced(t *testing.T) {
	needsDisks(t)
	d := newDisk(t, t.TempDir(), "disk")
	synced := write(t, filepath.Join(d.at, "synced"), "before")
	require.NoError(t, synced.Sync())
	_, err := synced.WriteString(" and after")
	require.NoError(t, err)
	require.NoError(t, synced.Close())
	require.NoError(t, write(t, filepath.Join(d.at, "not-synced"), "before").Close())

	cut := d.image + ".cut"
	d.cut(cut)
	d.unmount()
	d.mount(cut)
	content, err := os.ReadFile(filepath.Join(d.at, "synced"))
	require.NoError(t, err)
	require.Equal(t, "before", string(content))
	require.NoFileExists(t, filepath.Join(d.at, "not-synced"))
}

// write makes a file, which is not synced.
func write(t *testing.T, path, content string) *os.File {
	t.Helper()
	file, err := os.Create(path)
	require.NoError(t, err)
	_, err = file.WriteString(content)
	require.NoError(t, err)
	return file
}
