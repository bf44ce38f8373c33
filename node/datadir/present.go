package datadir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// Present reports whether the directory is still the one that was opened, with what is kept of the node: an error that wraps
// ErrGone if not. Nobody can be stopped from deleting it, or from mounting something over it.
func (d *Dir) Present() error {
	named, err := os.Stat(filepath.Join(d.path, lockFile))
	if err == nil {
		var open os.FileInfo
		if open, err = d.lock.Stat(); err == nil && !os.SameFile(named, open) {
			err = fs.ErrNotExist
		}
	}
	if err == nil {
		_, err = os.Stat(filepath.Join(d.path, nodeFile))
	}
	if errors.Is(err, fs.ErrNotExist) {
		return d.refuse(ErrGone, "%s is not what it was", filepath.Base(d.path))
	}
	return nil
}
