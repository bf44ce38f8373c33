package rawio

import (
	"errors"
	"syscall"
)

// Read reads what a socket that does not block has, Most bytes of it, as read(2): EAGAIN says that there is nothing, no bytes the end
// of the stream.
func Read(fd uintptr, p []byte) (int, error) { return again(read, fd, p[:min(len(p), Most)]) }

// Write writes what a socket that does not block has room for, as write(2): EAGAIN says that there is none. More than Most bytes are
// written as usual, for the room is as large as the system thinks fit.
func Write(fd uintptr, p []byte) (int, error) {
	if len(p) <= Most {
		return again(write, fd, p)
	}
	return again(ordinaryWrite, fd, p)
}

func ordinaryWrite(fd uintptr, p []byte) (int, error) { return syscall.Write(int(fd), p) }

// again makes a call that a signal has interrupted once more.
func again(call func(fd uintptr, p []byte) (int, error), fd uintptr, p []byte) (int, error) {
	for {
		n, err := call(fd, p)
		if !errors.Is(err, syscall.EINTR) {
			return max(n, 0), err
		}
	}
}
