package journal

import (
	"errors"
	"os"
	"syscall"

	"golang.org/x/sys/unix"
)

// Size implements File.
func (f diskFile) Size() (int64, bool, error) {
	info, err := f.Stat()
	if err != nil {
		return 0, false, err
	}
	st, known := info.Sys().(*syscall.Stat_t)
	return info.Size(), known && st.Blocks*512 >= info.Size(), nil
}

// Allocate implements File.
func (f diskFile) Allocate(size int64) error {
	err := uninterrupted(func() error { return syscall.Fallocate(int(f.Fd()), 0, 0, size) })
	if errors.Is(err, syscall.EOPNOTSUPP) || errors.Is(err, syscall.ENOSYS) {
		return writeZeros(f, size)
	}
	return named("fallocate", f, err)
}

// Datasync implements File.
func (f diskFile) Datasync() error {
	return named("fdatasync", f, uninterrupted(func() error { return syscall.Fdatasync(int(f.Fd())) }))
}

// Uncache implements File.
func (f diskFile) Uncache() { _ = unix.Fadvise(int(f.Fd()), 0, 0, unix.FADV_DONTNEED) }

// uninterrupted calls again what a signal has interrupted: Go's scheduler sends them.
func uninterrupted(call func() error) error {
	for {
		if err := call(); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}

func named(op string, f diskFile, err error) error {
	if err == nil {
		return nil
	}
	return &os.PathError{Op: op, Path: f.Name(), Err: err}
}
