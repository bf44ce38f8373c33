//go:build !race

package rawio

import (
	"syscall"
	"unsafe"
)

func read(fd uintptr, p []byte) (int, error)  { return transfer(syscall.SYS_READ, fd, p) }
func write(fd uintptr, p []byte) (int, error) { return transfer(syscall.SYS_WRITE, fd, p) }

func transfer(number, fd uintptr, p []byte) (int, error) {
	n, _, errno := syscall.RawSyscall(number, fd, uintptr(unsafe.Pointer(unsafe.SliceData(p))), uintptr(len(p)))
	return outcome(n, errno)
}
