package main

import (
	"runtime"

	"golang.org/x/sys/unix"
)

// startOn calls start, which starts a process, so that this may use some of the cores only, from first on and before end; 0 and 0: those that this process may use.
func startOn(first, end int, start func() error) error {
	if end == 0 {
		return start()
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	var before, wanted unix.CPUSet
	if err := unix.SchedGetaffinity(0, &before); err != nil {
		return err
	}
	for cpu := first; cpu < end; cpu++ {
		wanted.Set(cpu)
	}
	if err := unix.SchedSetaffinity(0, &wanted); err != nil { // of this thread: who is started has what it has
		return err
	}
	err := start()
	if err2 := unix.SchedSetaffinity(0, &before); err2 != nil {
		return err2
	}
	return err
}
