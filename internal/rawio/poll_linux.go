package rawio

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/unix"
)

// Poll says what there is to tell of the sockets that an epoll instance watches, as epoll_wait(2) that does not wait.
func Poll(fd uintptr, events []unix.EpollEvent) (int, error) {
	n, _, errno := syscall.RawSyscall6(syscall.SYS_EPOLL_PWAIT, fd, uintptr(unsafe.Pointer(unsafe.SliceData(events))), uintptr(len(events)), 0, 0, 0)
	return outcome(n, errno)
}

// outcome makes an error of a number, without allocating for the one that is usual.
func outcome(n uintptr, errno syscall.Errno) (int, error) {
	switch errno {
	case 0:
		return int(n), nil
	case syscall.EAGAIN:
		return 0, eagain
	}
	return 0, errno
}

var eagain error = syscall.EAGAIN
