//go:build unix

package front

import "golang.org/x/sys/unix"

// inputWaits reports whether a socket has something to read, which stays there.
func inputWaits(fd uintptr) bool {
	var one [1]byte
	n, _, err := unix.Recvfrom(int(fd), one[:], unix.MSG_PEEK|unix.MSG_DONTWAIT)
	return err == nil && n > 0
}
