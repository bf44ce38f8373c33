package cluster

import "syscall"

// attributes puts a process into a group of its own, which a terminal's Ctrl-C does
// not reach, and lets it die with the tests, should they not get to clean up.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}

// awaitStopped waits until a signal has stopped every thread of a child: on a busy
// machine some of them work on for a moment.
func awaitStopped(pid int) {
	const byPID, wstopped = 1, 2 // P_PID and WSTOPPED of waitid(2); without WEXITED it reaps nothing
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, byPID, uintptr(pid), 0, wstopped, 0, 0)
		if errno != syscall.EINTR {
			return
		}
	}
}
