package main

import (
	"os"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// tick is the unit of times in /proc on every Linux that Go runs on.
const tick = time.Second / 100

// coresUsed returns how long cores have been used so far, false if the system does not tell.
func coresUsed() (used, bool) {
	stat, err := os.ReadFile("/proc/stat")
	if err != nil {
		return used{}, false
	}
	idle, ok := idleOf(string(stat))
	var own syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &own) != nil || !ok {
		return used{}, false
	}
	return used{at: time.Now(), own: time.Duration(own.Utime.Nano() + own.Stime.Nano()), idle: idle}, true
}

// idleOf returns how long cores have had nothing to do, or waited for disks, by the first line of /proc/stat.
func idleOf(stat string) (time.Duration, bool) {
	line, _, _ := strings.Cut(stat, "\n")
	fields := strings.Fields(line)
	if len(fields) < 6 || fields[0] != "cpu" {
		return 0, false
	}
	idle, err := strconv.ParseInt(fields[4], 10, 64)
	waiting, err2 := strconv.ParseInt(fields[5], 10, 64)
	return time.Duration(idle+waiting) * tick, err == nil && err2 == nil
}
