package datadir

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/quolldb/quoll/internal/durable"
)

// step makes one change to the disk.
func (d *Dir) step(what string, change func() error) error {
	if d.before != nil {
		if err := d.before(what); err != nil {
			return err
		}
	}
	return change()
}

// write replaces a file. Whatever happens meanwhile, the old or the new one is there;
// when it returns nil, the new one is on disk.
func (d *Dir) write(name string, value any) error {
	text, err := seal(value)
	if err != nil {
		return err
	}
	path := filepath.Join(d.path, name)
	if err := d.step("write "+name, func() error { return writeSynced(path+temporary, text) }); err != nil {
		return err
	}
	if err := d.step("rename "+name, func() error { return os.Rename(path+temporary, path) }); err != nil {
		return err
	}
	return d.sync(d.path)
}

func writeSynced(path string, text []byte) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return err
	}
	defer file.Close()
	if _, err := file.Write(text); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	return file.Close()
}

// sync makes a file, or the entries of a directory, durable.
func (d *Dir) sync(path string) error {
	return d.step("sync "+filepath.Base(path), func() error { return durable.Sync(path) })
}

// makeDir makes a directory durably, with those above it that are missing.
func (d *Dir) makeDir(path string) error {
	switch info, err := os.Stat(path); {
	case err == nil && !info.IsDir():
		return d.refuse(ErrNotDirectory, "%s is a file; give --data the path of a directory", path)
	case err == nil:
		return nil
	case !errors.Is(err, fs.ErrNotExist):
		return err
	}
	parent := filepath.Dir(path)
	if err := d.makeDir(parent); err != nil {
		return err
	}
	err := d.step("make "+filepath.Base(path), func() error { return os.Mkdir(path, 0o700) })
	if err != nil && !errors.Is(err, fs.ErrExist) {
		return err
	}
	return d.sync(parent)
}

// prepareEngine makes the engine's directories, empty, for a fresh data directory. For
// any other one they must be there.
func (d *Dir) prepareEngine() error {
	for _, name := range d.engineDirs() {
		path := filepath.Join(d.path, name)
		if !d.fresh {
			if info, err := os.Stat(path); errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
				return d.damaged("the directory %s is missing", name)
			} else if err != nil {
				return err
			}
			continue
		}
		if err := d.makeDir(path); err != nil {
			return err
		}
		if err := d.clear(path); err != nil {
			return err
		}
	}
	return nil
}

// clear removes what a first life that was cut short left.
func (d *Dir) clear(path string) error {
	entries, err := os.ReadDir(path)
	if err != nil || len(entries) == 0 {
		return err
	}
	d.log.Warn("removing what a start that was not finished has left", "dir", path, "files", len(entries))
	for _, entry := range entries {
		if err := d.step("remove "+entry.Name(), func() error { return os.RemoveAll(filepath.Join(path, entry.Name())) }); err != nil {
			return err
		}
	}
	return d.sync(path)
}

// syncEngine makes the engine's files durable as they are.
func (d *Dir) syncEngine() error {
	for _, name := range d.engineDirs() {
		root, err := filepath.EvalSymlinks(filepath.Join(d.path, name))
		if err != nil {
			return err
		}
		err = filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
			if err != nil || !entry.IsDir() && !entry.Type().IsRegular() {
				return err
			}
			return d.sync(path)
		})
		if err != nil {
			return err
		}
	}
	return nil
}
