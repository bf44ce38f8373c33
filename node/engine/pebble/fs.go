package pebble

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"sync"

	"github.com/cockroachdb/pebble/v2/vfs"
)

// guarded is a file system whose writes go through a guard. Reads pass.
type guarded struct {
	vfs.FS
	guard *guard

	mu   sync.Mutex
	lock io.Closer // of the directory
}

func (f *guarded) file(file vfs.File, name string) vfs.File {
	if file == nil {
		return nil
	}
	return &guardedFile{File: file, guard: f.guard, name: name}
}

// open is what all calls have in common that return a file to write to.
func (f *guarded) open(name string, open func() (vfs.File, error)) (file vfs.File, err error) {
	err = f.guard.write(name, func() error {
		file, err = open()
		return err
	})
	if err != nil {
		return nil, err
	}
	return f.file(file, name), nil
}

// Create implements vfs.FS.
func (f *guarded) Create(name string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return f.open(name, func() (vfs.File, error) { return f.FS.Create(name, category) })
}

// OpenReadWrite implements vfs.FS.
func (f *guarded) OpenReadWrite(name string, category vfs.DiskWriteCategory, opts ...vfs.OpenOption) (vfs.File, error) {
	return f.open(name, func() (vfs.File, error) { return f.FS.OpenReadWrite(name, category, opts...) })
}

// ReuseForWrite implements vfs.FS.
func (f *guarded) ReuseForWrite(oldname, newname string, category vfs.DiskWriteCategory) (vfs.File, error) {
	return f.open(newname, func() (vfs.File, error) { return f.FS.ReuseForWrite(oldname, newname, category) })
}

// OpenDir implements vfs.FS. A directory is opened to be synced.
func (f *guarded) OpenDir(name string) (vfs.File, error) {
	return f.open(name, func() (vfs.File, error) { return f.FS.OpenDir(name) })
}

// Link implements vfs.FS.
func (f *guarded) Link(oldname, newname string) error {
	return f.guard.write(newname, func() error { return f.FS.Link(oldname, newname) })
}

// Remove implements vfs.FS.
func (f *guarded) Remove(name string) error {
	return f.guard.write(name, func() error { return unless(f.FS.Remove(name), fs.ErrNotExist) })
}

// unless returns an error unless it is one that does no harm.
func unless(err, harmless error) error {
	if errors.Is(err, harmless) {
		return nil
	}
	return err
}

// RemoveAll implements vfs.FS.
func (f *guarded) RemoveAll(name string) error {
	return f.guard.write(name, func() error { return f.FS.RemoveAll(name) })
}

// Rename implements vfs.FS.
func (f *guarded) Rename(oldname, newname string) error {
	return f.guard.write(newname, func() error { return f.FS.Rename(oldname, newname) })
}

// MkdirAll implements vfs.FS.
func (f *guarded) MkdirAll(dir string, perm os.FileMode) error {
	return f.guard.write(dir, func() error { return f.FS.MkdirAll(dir, perm) })
}

// Lock implements vfs.FS.
func (f *guarded) Lock(name string) (io.Closer, error) {
	lock, err := f.FS.Lock(name)
	if err != nil {
		return nil, err
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.lock = lock
	return unlocker{f}, nil
}

// unlocker unlocks the directory.
type unlocker struct{ files *guarded }

// Close implements io.Closer.
func (u unlocker) Close() error { return u.files.unlock() }

// unlock unlocks the directory, whatever Pebble does.
func (f *guarded) unlock() error {
	f.mu.Lock()
	defer f.mu.Unlock()
	lock := f.lock
	f.lock = nil
	if lock == nil { // it has been done
		return nil
	}
	return lock.Close()
}

// Unwrap implements vfs.FS.
func (f *guarded) Unwrap() vfs.FS { return f.FS }

// guardedFile is a file whose writes go through a guard.
type guardedFile struct {
	vfs.File
	guard *guard
	name  string
}

// Write implements vfs.File. What was written before a disk was full is not written again.
func (f *guardedFile) Write(p []byte) (n int, err error) {
	err = f.guard.write(f.name, func() error {
		more, err := f.File.Write(p[n:])
		n += more
		return err
	})
	return n, err
}

// WriteAt implements vfs.File.
func (f *guardedFile) WriteAt(p []byte, offset int64) (n int, err error) {
	err = f.guard.write(f.name, func() error {
		n, err = f.File.WriteAt(p, offset)
		return err
	})
	return n, err
}

// Preallocate implements vfs.File.
func (f *guardedFile) Preallocate(offset, length int64) error {
	return f.guard.write(f.name, func() error { return f.File.Preallocate(offset, length) })
}

// Sync implements vfs.File. After one that failed nobody knows what is on the disk, whatever the reason.
func (f *guardedFile) Sync() error { return f.sync(f.File.Sync) }

// SyncData implements vfs.File.
func (f *guardedFile) SyncData() error { return f.sync(f.File.SyncData) }

// SyncTo implements vfs.File.
func (f *guardedFile) SyncTo(length int64) (full bool, err error) {
	err = f.sync(func() error {
		full, err = f.File.SyncTo(length)
		return err
	})
	return full, err
}

func (f *guardedFile) sync(sync func() error) error {
	return f.guard.write(f.name, func() error {
		err := sync()
		if err != nil && shortage(err) {
			err = &unsynced{err}
		}
		return err
	})
}

// unsynced is an error of a sync, which does not go away. It hides what it was caused by.
type unsynced struct{ cause error }

// Error implements error.
func (u *unsynced) Error() string { return "it could not be synced: " + u.cause.Error() }
