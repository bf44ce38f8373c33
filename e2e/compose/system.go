//go:build linux

package compose

import (
	"fmt"
	"os"
	"strings"
	"syscall"
)

// ownGroup keeps a terminal's Ctrl-C from a command: this process decides what ends.
func ownGroup() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setpgid: true} }

// startOf returns when a process began, in ticks since the machine did, or "" if there is no
// such process. With the number it names the process for good.
func startOf(pid int) string {
	stat, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return ""
	}
	_, rest, _ := strings.Cut(string(stat), ") ") // behind the program's name, which may hold anything
	fields := strings.Fields(rest)
	if len(fields) < 20 {
		return ""
	}
	return fields[19]
}
