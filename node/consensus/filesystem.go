package consensus

import (
	"io"
	"os"
	"path/filepath"

	"github.com/quolldb/quoll/internal/durable"
)

// FileSystem is what a storage does with its directory, which exists: names are those of files in it. Tests have one that forgets in a power cut
// what was not synced.
type FileSystem interface {
	// ReadFile returns the content of a file, an error that is os.ErrNotExist if there is none.
	ReadFile(name string) ([]byte, error)
	// Create makes an empty file, or empties the one that is there.
	Create(name string) (File, error)
	Rename(from, to string) error
	// SyncDir makes durable what names there are, and for which files.
	SyncDir() error
}

// File is a file that is open for writing.
type File interface {
	io.WriterAt
	io.Closer
	// Sync makes durable what was written.
	Sync() error
}

// Directory returns the file system of the product: a directory of the system's.
func Directory(path string) FileSystem { return directory(path) }

type directory string

func (d directory) path(name string) string { return filepath.Join(string(d), name) }

func (d directory) ReadFile(name string) ([]byte, error) { return os.ReadFile(d.path(name)) }

func (d directory) Create(name string) (File, error) {
	f, err := os.OpenFile(d.path(name), os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return nil, err // not a File that is not nil
	}
	return f, nil
}

func (d directory) Rename(from, to string) error { return os.Rename(d.path(from), d.path(to)) }

func (d directory) SyncDir() error { return durable.Sync(string(d)) }
