package disk

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"

	"github.com/quolldb/quoll/node/engine/journal"
)

// System is what an engine asks of the operating system, beside what its Store does. Tests have one in memory, which fails.
// Its methods may be called at the same time.
type System interface {
	// MakeDirs makes a directory and those above it, as far as they are not there.
	MakeDirs(dir string) error
	// Space returns the size of a directory's file system in bytes, and how many of them are free.
	Space(dir string) (total, free int64, err error)
	// Used returns how many bytes the files of a directory take.
	Used(dir string) (uint64, error)
	// Journal returns the file system that the journal has in a directory, nil for the one that it has by itself.
	Journal(dir string) journal.FileSystem
}

// system is the System of the process.
type system struct{}

func (system) MakeDirs(dir string) error { return os.MkdirAll(dir, 0o700) }

func (system) Journal(string) journal.FileSystem { return nil }

func (system) Space(dir string) (total, free int64, err error) {
	var stat unix.Statfs_t
	if err := unix.Statfs(dir, &stat); err != nil {
		return 0, 0, err
	}
	return inBytes(stat.Blocks, stat.Bsize), inBytes(stat.Bavail, stat.Bsize), nil
}

// inBytes returns the bytes in blocks of a size, which is another type on each system.
func inBytes[T int64 | int32 | uint32](blocks uint64, size T) int64 {
	return int64(blocks) * int64(size)
}

// Used counts the blocks, since some files have holes.
func (system) Used(dir string) (uint64, error) {
	total := uint64(0)
	err := filepath.WalkDir(dir, func(_ string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		info, err := entry.Info()
		if errors.Is(err, fs.ErrNotExist) { // removed meanwhile
			return nil
		}
		if stat, ok := info.Sys().(*syscall.Stat_t); ok {
			total += uint64(stat.Blocks) * 512
		}
		return err
	})
	return total, err
}
