package cluster

import "syscall"

// attributes puts a process into a group of its own, which a terminal's Ctrl-C does
// not reach, and lets it die with the tests, should they not get to clean up.
func attributes() *syscall.SysProcAttr {
	return &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
}
