package cluster

import (
	"bytes"
	"fmt"
	"os"
	"strconv"
	"syscall"
)

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

// Memory is how much memory the process occupies, in bytes: of its own, and of files that
// it has mapped, which the system takes back when it needs it. 0 where that is not known.
func (p *Process) Memory() (own, files int64) {
	statm, err := os.ReadFile(fmt.Sprintf("/proc/%d/statm", p.PID()))
	if fields := bytes.Fields(statm); err == nil && len(fields) > 2 {
		resident, _ := strconv.ParseInt(string(fields[1]), 10, 64)
		shared, _ := strconv.ParseInt(string(fields[2]), 10, 64)
		page := int64(os.Getpagesize())
		return (resident - shared) * page, shared * page
	}
	return 0, 0
}
