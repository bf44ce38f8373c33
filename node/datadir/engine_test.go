package datadir

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestADirectoryIsOfOneEngine: another engine does not touch it, and says what to do.
func TestADirectoryIsOfOneEngine(t *testing.T) {
	for _, of := range engines {
		for _, other := range engines {
			opt := options(filepath.Join(t.TempDir(), "data"), FsyncAlways)
			opt.Engine = of
			d, err := Open(opt)
			require.NoError(t, err)
			require.Equal(t, filepath.Join(opt.Path, of), d.StoreDir())
			require.DirExists(t, d.StoreDir())
			require.NoError(t, d.Close(true))
			opt.Engine = other
			d, err = Open(opt)
			if of == other {
				require.NoError(t, err)
				require.NoError(t, d.Close(true))
				continue
			}
			require.ErrorIs(t, err, ErrOtherEngine)
			require.ErrorContains(t, err, "give --engine "+of+", or another --data")
			require.NoDirExists(t, filepath.Join(opt.Path, other))
		}
	}
	opt := options(filepath.Join(t.TempDir(), "data"), FsyncAlways)
	opt.Engine = "oak"
	_, err := Open(opt)
	require.ErrorContains(t, err, "oak")
}
