package journal

import (
	"errors"
	"io"
	"os"
	"path/filepath"
	"syscall"

	"github.com/quolldb/quoll/internal/durable"
)

// FileSystem is what the journal does with its directory: names are those of files in it. Tests have one that forgets
// in a power cut what was not synced.
type FileSystem interface {
	// Names returns the names of all files; an error that is os.ErrNotExist without a directory.
	Names() ([]string, error)
	// MakeDir makes the directory, durably, if it is not there.
	MakeDir() error
	// Create makes an empty file, or empties the one that is there.
	Create(name string) (File, error)
	Open(name string) (File, error)
	Rename(from, to string) error
	Remove(name string) error
	// Holds reports whether a name stands for a file that is open here; yes if that cannot be found out.
	Holds(name string, f File) bool
	// SyncDir makes durable what names there are, and for which files.
	SyncDir() error
}

// File is an open file. One goroutine writes to it or syncs it at a time.
type File interface {
	io.ReaderAt
	io.WriterAt
	io.Closer
	// Size returns the length, and whether all of it has space on the disk.
	Size() (size int64, allocated bool, err error)
	// Allocate takes space for an empty file and makes it that long.
	Allocate(size int64) error
	// Datasync is fdatasync, Sync fsync.
	Datasync() error
	Sync() error
	// Uncache asks the system to forget what it has of the file in memory and has synced. It need not.
	Uncache()
}

// shortage reports whether an error is of the kind that goes away by itself: no space,
// or no file descriptors.
func shortage(err error) bool {
	for _, e := range []error{syscall.ENOSPC, syscall.EDQUOT, syscall.EMFILE, syscall.ENFILE, syscall.ENOMEM} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// directory is the FileSystem of the product.
type directory string

func (d directory) path(name string) string { return filepath.Join(string(d), name) }

func (d directory) Names() ([]string, error) {
	entries, err := os.ReadDir(string(d))
	names := make([]string, len(entries))
	for i, e := range entries {
		names[i] = e.Name()
	}
	return names, err
}

func (d directory) MakeDir() error {
	if err := os.MkdirAll(string(d), 0o700); err != nil {
		return err
	}
	return durable.Sync(filepath.Dir(string(d)))
}

func (d directory) Create(name string) (File, error) {
	return openFile(d.path(name), os.O_RDWR|os.O_CREATE|os.O_TRUNC)
}

func (d directory) Open(name string) (File, error) { return openFile(d.path(name), os.O_RDWR) }

func (d directory) Rename(from, to string) error { return os.Rename(d.path(from), d.path(to)) }

func (d directory) Remove(name string) error { return os.Remove(d.path(name)) }

func (d directory) SyncDir() error { return durable.Sync(string(d)) }

// diskFile is a file on a disk. Its other methods depend on the system.
type diskFile struct{ *os.File }

func openFile(path string, flags int) (File, error) {
	f, err := os.OpenFile(path, flags, 0o600)
	if err != nil {
		return nil, err
	}
	return diskFile{f}, nil
}
