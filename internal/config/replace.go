package config

import (
	"os"
	"path/filepath"
	"syscall"

	"github.com/quolldb/quoll/internal/durable"
)

// replaceFile replaces what is in a file, durably and at one moment, by a new file with the permissions and the owner of the old one.
func replaceFile(path string, text []byte) (err error) {
	if path, err = filepath.EvalSymlinks(path); err != nil {
		return err
	}
	info, err := os.Stat(path)
	if err != nil {
		return err
	}
	temporary, err := os.CreateTemp(filepath.Dir(path), filepath.Base(path)+".*.tmp")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = os.Remove(temporary.Name())
		}
	}()
	if err := fill(temporary, text, info); err != nil {
		temporary.Close()
		return err
	}
	if err := temporary.Close(); err != nil {
		return err
	}
	if err := os.Rename(temporary.Name(), path); err != nil {
		return err
	}
	return durable.Sync(filepath.Dir(path))
}

// fill writes a file, and gives it owner and permissions of another one before anything is in it.
func fill(file *os.File, text []byte, like os.FileInfo) error {
	if owner, known := like.Sys().(*syscall.Stat_t); known && (int(owner.Uid) != os.Geteuid() || int(owner.Gid) != os.Getegid()) {
		if err := file.Chown(int(owner.Uid), int(owner.Gid)); err != nil {
			return err
		}
	}
	if err := file.Chmod(like.Mode().Perm()); err != nil {
		return err
	}
	if _, err := file.Write(text); err != nil {
		return err
	}
	return file.Sync()
}
