package main

import (
	"context"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"strings"
	"time"
)

// ticksPerSecond is the unit of CPU times in /proc on every Linux that Go runs on.
const ticksPerSecond = 100

// busy returns the CPU time that all cores have been busy so far, also with what the machine's host did meanwhile.
func busy() (time.Duration, error) {
	text, err := os.ReadFile("/proc/stat")
	if err != nil {
		return 0, err
	}
	return busyOf(string(text))
}

// busyOf adds up the first line of /proc/stat: user, nice, system, interrupts, soft ones, and time stolen, without idle and waiting for disks. What guests take is in user.
func busyOf(stat string) (time.Duration, error) {
	line, _, _ := strings.Cut(stat, "\n")
	fields := strings.Fields(line)
	if len(fields) < 9 || fields[0] != "cpu" {
		return 0, fmt.Errorf("/proc/stat begins with %q", line)
	}
	var ticks int64
	for _, i := range []int{1, 2, 3, 6, 7, 8} {
		n, err := strconv.ParseInt(fields[i], 10, 64)
		if err != nil {
			return 0, fmt.Errorf("/proc/stat: %w", err)
		}
		ticks += n
	}
	return time.Duration(ticks) * time.Second / ticksPerSecond, nil
}

// waiting is how long somebody is still willing to wait.
type waiting struct{ patience time.Duration }

// untilQuiet waits until the machine has little to do, or patience has ended. The servers that are to be measured rest meanwhile.
func (w *waiting) untilQuiet(ctx context.Context) error {
	for w.patience > 0 {
		before, err := busy()
		if err != nil {
			return err
		}
		began := time.Now()
		select {
		case <-ctx.Done():
			return ctx.Err()
		case <-time.After(time.Second):
		}
		after, err := busy()
		if err != nil {
			return err
		}
		elapsed := time.Since(began)
		if float64(after-before)/float64(elapsed)/float64(runtime.NumCPU()) <= quiet {
			return nil
		}
		w.patience -= elapsed
	}
	return nil
}

// awaitQuiet waits for a while until the machine has little to do. It returns an error if that does not come, unless it is all the same. -guard waits by itself.
func (p *plan) awaitQuiet(ctx context.Context, patience time.Duration) error {
	if p.loaded || p.guards {
		return nil
	}
	wait := waiting{patience}
	if err := wait.untilQuiet(ctx); err != nil {
		return err
	}
	if wait.patience <= 0 {
		return fmt.Errorf("other programs have had much of this machine for %s: what is measured now would be about them. End them, or say -loaded (FLAGS=-loaded)", patience)
	}
	return nil
}
