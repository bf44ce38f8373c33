//go:build unix && !linux

package cluster

import "syscall"

// attributes puts a process into a group of its own, which a terminal's Ctrl-C does
// not reach.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// awaitStopped does nothing: a child may work on for a moment after SIGSTOP.
func awaitStopped(int) {}

// Memory is how much memory the process occupies, in bytes: of its own, and of files that
// it has mapped, which the system takes back when it needs it. 0 where that is not known.
func (p *Process) Memory() (own, files int64) { return 0, 0 }
