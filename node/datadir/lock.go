package datadir

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
)

// takeLock locks the directory for as long as this process lives, and writes into the
// file which one it is. The file is never removed: somebody may have opened it.
func (d *Dir) takeLock() error {
	path := filepath.Join(d.path, lockFile)
	file, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	switch err := syscall.Flock(int(file.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); {
	case errors.Is(err, syscall.EWOULDBLOCK):
		defer file.Close()
		return d.refuse(ErrLocked, "%s; stop that one, or give each node a --data of its own", holder(file))
	case err != nil:
		file.Close()
		return fmt.Errorf("its file system cannot lock %s: %w", path, err)
	}
	d.lock = file
	if err := file.Truncate(0); err != nil {
		return err
	}
	_, err = file.WriteAt([]byte(strconv.Itoa(os.Getpid())+"\n"), 0)
	return err
}

// holder says who holds the lock, as far as that is known.
func holder(file *os.File) string {
	text := make([]byte, 20)
	n, _ := file.ReadAt(text, 0)
	pid, err := strconv.Atoi(strings.TrimSpace(string(text[:n])))
	if err != nil {
		return "by which, is not known"
	}
	return fmt.Sprintf("its process ID is %d", pid)
}

// unlock gives the lock up, even if a child that is just being forked has the file too.
func (d *Dir) unlock() {
	if d.lock != nil {
		_ = syscall.Flock(int(d.lock.Fd()), syscall.LOCK_UN) // closing the file does it otherwise
		d.lock.Close()
	}
}
