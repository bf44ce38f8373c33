//go:build unix && !linux

package cluster

import "syscall"

// attributes puts a process into a group of its own, which a terminal's Ctrl-C does
// not reach.
func attributes() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// awaitStopped does nothing: a child may work on for a moment after SIGSTOP.
func awaitStopped(int) {}
