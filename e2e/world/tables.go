package world

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"time"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// tables are the files that Pebble has on a volume, all in one directory: the file system that Pebble writes through.
type tables struct{ files }

var _ vfs.FS = tables{}

// at returns an open file as Pebble has it.
func (t tables) at(name string, open func(name string) (*openFile, error)) (vfs.File, error) {
	f, err := open(filepath.Base(name))
	if err != nil {
		return nil, err
	}
	return &tableFile{openFile: f}, nil
}

// Create implements vfs.FS.
func (t tables) Create(name string, _ vfs.DiskWriteCategory) (vfs.File, error) {
	return t.at(name, t.create)
}

// Open implements vfs.FS.
func (t tables) Open(name string, _ ...vfs.OpenOption) (vfs.File, error) { return t.at(name, t.open) }

// OpenReadWrite implements vfs.FS.
func (t tables) OpenReadWrite(name string, category vfs.DiskWriteCategory, _ ...vfs.OpenOption) (vfs.File, error) {
	if f, err := t.Open(name); err == nil {
		return f, nil
	}
	return t.Create(name, category)
}

// ReuseForWrite implements vfs.FS.
func (t tables) ReuseForWrite(from, to string, _ vfs.DiskWriteCategory) (vfs.File, error) {
	if err := t.Rename(from, to); err != nil {
		return nil, err
	}
	return t.Open(to)
}

// OpenDir implements vfs.FS.
func (t tables) OpenDir(string) (vfs.File, error) { return directory{files: t.files}, nil }

// Link implements vfs.FS.
func (t tables) Link(from, to string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := t.names[filepath.Base(from)]
	if n == nil {
		return pathError("link", from, syscall.ENOENT)
	}
	t.change(nameChange{to: filepath.Base(to), file: n})
	return nil
}

// Remove implements vfs.FS.
func (t tables) Remove(name string) error { return t.files.Remove(filepath.Base(name)) }

// RemoveAll implements vfs.FS.
func (t tables) RemoveAll(name string) error { return t.Remove(name) }

// Rename implements vfs.FS.
func (t tables) Rename(from, to string) error {
	return t.files.Rename(filepath.Base(from), filepath.Base(to))
}

// MkdirAll implements vfs.FS.
func (tables) MkdirAll(string, os.FileMode) error { return nil }

// Lock implements vfs.FS. Nobody else has the disk.
func (tables) Lock(string) (io.Closer, error) { return io.NopCloser(nil), nil }

// List implements vfs.FS.
func (t tables) List(string) ([]string, error) { return t.Names() }

// Stat implements vfs.FS.
func (t tables) Stat(name string) (vfs.FileInfo, error) {
	f, err := t.Open(name)
	if err != nil {
		return nil, err
	}
	return f.Stat()
}

// PathBase implements vfs.FS.
func (tables) PathBase(name string) string { return filepath.Base(name) }

// PathJoin implements vfs.FS.
func (tables) PathJoin(parts ...string) string { return filepath.Join(parts...) }

// PathDir implements vfs.FS.
func (tables) PathDir(name string) string { return filepath.Dir(name) }

// GetDiskUsage implements vfs.FS.
func (t tables) GetDiskUsage(string) (vfs.DiskUsage, error) {
	total, free, err := t.Space("")
	return vfs.DiskUsage{AvailBytes: uint64(free), TotalBytes: uint64(total), UsedBytes: uint64(total - free)}, err
}

// Unwrap implements vfs.FS.
func (tables) Unwrap() vfs.FS { return nil }

// tableFile is an open file. One goroutine reads it from the beginning on, or writes to its end; any may read at a place.
type tableFile struct {
	*openFile
	read, written int64
}

// Read implements vfs.File.
func (f *tableFile) Read(p []byte) (int, error) {
	n, err := f.ReadAt(p, f.read)
	if f.read += int64(n); n > 0 { // the end is for the next one
		err = nil
	}
	return n, err
}

// Write implements vfs.File.
func (f *tableFile) Write(p []byte) (int, error) {
	n, err := f.WriteAt(p, f.written)
	f.written += int64(n)
	return n, err
}

// WriteAt implements vfs.File. Unlike the journal's files these have no space before they are written to.
func (f *tableFile) WriteAt(p []byte, at int64) (int, error) {
	if _, free, err := f.Space(""); err != nil || free < int64(len(p)) {
		return 0, pathError("write", f.name, syscall.ENOSPC)
	}
	return f.openFile.WriteAt(p, at)
}

// Preallocate implements vfs.File.
func (f *tableFile) Preallocate(int64, int64) error { return nil }

// Prefetch implements vfs.File.
func (f *tableFile) Prefetch(int64, int64) error { return nil }

// SyncData implements vfs.File.
func (f *tableFile) SyncData() error { return f.Datasync() }

// SyncTo implements vfs.File. It promises nothing.
func (f *tableFile) SyncTo(int64) (full bool, err error) { return false, nil }

// Fd implements vfs.File.
func (f *tableFile) Fd() uintptr { return vfs.InvalidFd }

// Stat implements vfs.File.
func (f *tableFile) Stat() (vfs.FileInfo, error) {
	size, _, err := f.Size()
	return fileInfo{name: f.name, size: size}, err
}

// directory is opened to be synced.
type directory struct {
	vfs.File // none: nothing else is done with a directory
	files    files
}

// Sync implements vfs.File.
func (d directory) Sync() error { return d.files.SyncDir() }

// Close implements vfs.File.
func (d directory) Close() error { return nil }

// fileInfo is a vfs.FileInfo.
type fileInfo struct {
	name string
	size int64
}

func (i fileInfo) Name() string         { return i.name }
func (i fileInfo) Size() int64          { return i.size }
func (fileInfo) Mode() fs.FileMode      { return 0o600 }
func (fileInfo) ModTime() time.Time     { return time.Time{} }
func (fileInfo) IsDir() bool            { return false }
func (fileInfo) Sys() any               { return nil }
func (fileInfo) DeviceID() vfs.DeviceID { return vfs.DeviceID{} }
