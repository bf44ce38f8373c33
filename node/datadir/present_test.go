package datadir

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestADirectoryThatIsDeletedIsMissed(t *testing.T) {
	for _, name := range []string{"", lockFile, nodeFile} {
		path, _ := newDir(t)
		d := mustOpen(t, options(path, FsyncAlways))
		require.NoError(t, d.Present())
		require.NoError(t, os.RemoveAll(filepath.Join(path, name)))
		err := d.Present()
		require.ErrorIs(t, err, ErrGone, name)
		require.ErrorContains(t, err, path)
		if name == lockFile { // another process could have it by now
			require.NoError(t, os.WriteFile(filepath.Join(path, lockFile), nil, 0o600))
			require.ErrorIs(t, d.Present(), ErrGone)
		}
		_ = d.Close(false)
	}
}
