package datadir

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"syscall"

	"github.com/quolldb/quoll/node/engine"
)

// Why a directory cannot be used. Each is wrapped in a sentence that says more, and what
// to do.
var (
	ErrLocked       = errors.New("is in use by another process")
	ErrOtherCluster = errors.New("belongs to another cluster")
	ErrOtherNode    = errors.New("belongs to another node")
	ErrOtherEngine  = errors.New("belongs to another engine")
	ErrFormat       = errors.New("was written by a newer version of quoll")
	ErrNotDirectory = errors.New("is not a directory")
	ErrPermission   = errors.New("cannot be used for want of permission")
	ErrReadOnly     = errors.New("is on a read-only file system")
	ErrForeign      = errors.New("is not empty, and not a data directory of Quoll")
	ErrDamaged      = errors.New("is damaged")
	// ErrGone is returned (wrapped) by Present.
	ErrGone = errors.New("was deleted or replaced while it was in use")
)

// refuse returns an error about the directory: why, details, and what to do.
func (d *Dir) refuse(why error, format string, args ...any) error {
	return fmt.Errorf("data directory %s %w: %w", d.path, why, fmt.Errorf(format, args...))
}

func (d *Dir) damaged(format string, args ...any) error {
	return d.refuse(ErrDamaged, "%w; check the disk; %s", fmt.Errorf(format, args...), engine.Advice)
}

// explain turns what the operating system says into an error about the directory.
func (d *Dir) explain(err error) error {
	for _, known := range []error{ErrLocked, ErrOtherCluster, ErrOtherNode, ErrOtherEngine, ErrFormat, ErrNotDirectory, ErrForeign, ErrDamaged} {
		if errors.Is(err, known) {
			return err
		}
	}
	switch {
	case errors.Is(err, syscall.ENOTDIR):
		return d.refuse(ErrNotDirectory, "%w; give --data the path of a directory", err)
	case errors.Is(err, syscall.EROFS):
		return d.refuse(ErrReadOnly, "%w; mount it for writing, or give another --data", err)
	case errors.Is(err, fs.ErrPermission):
		return d.refuse(ErrPermission, "%w; it and all that is in it must be the own of the user whom quoll runs as (user ID %d)", err, os.Getuid())
	}
	return fmt.Errorf("data directory %s cannot be used: %w", d.path, err)
}
