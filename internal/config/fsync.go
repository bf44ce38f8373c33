package config

import (
	"errors"
	"strings"
	"time"
)

// Fsync says when what is written is forced to disk: before it is acknowledged, or at
// intervals. It is written "always" or "interval=100ms".
type Fsync time.Duration

// FsyncAlways is the zero Fsync.
const FsyncAlways Fsync = 0

const intervalForm = "interval="

var errFsync = errors.New(`neither "always" nor "interval=DURATION" with a duration from 1ms to 10s, such as interval=100ms`)

// Interval returns how often, 0 for always.
func (f Fsync) Interval() time.Duration { return time.Duration(f) }

// Mode returns "always" or "interval".
func (f Fsync) Mode() string {
	mode, _, _ := strings.Cut(f.String(), "=")
	return mode
}

// Set parses text. It is part of pflag's Value.
func (f *Fsync) Set(text string) error {
	if text == FsyncAlways.String() {
		*f = FsyncAlways
		return nil
	}
	interval, ok := strings.CutPrefix(text, intervalForm)
	d, err := time.ParseDuration(interval)
	if !ok || err != nil || d < time.Millisecond || d > 10*time.Second {
		return errFsync
	}
	*f = Fsync(d)
	return nil
}

// String writes what Set reads.
func (f Fsync) String() string {
	if f == FsyncAlways {
		return "always"
	}
	return intervalForm + time.Duration(f).String()
}

// Type names the type in help texts. It is part of pflag's Value.
func (f *Fsync) Type() string { return "fsync" }
