//go:build faults

package clock

import (
	"sync/atomic"
	"time"
)

// shift is by how much the clock of this process is wrong.
var shift atomic.Int64

// UnixMilli is the time in Unix milliseconds, as wrong as Shift made it.
func UnixMilli() int64 { return time.Now().Add(Shifted()).UnixMilli() }

// Shift sets the clock of this process wrong by d, ahead or, if it is negative, behind. It jumps at once. Monotonic
// clocks are not touched.
func Shift(d time.Duration) { shift.Store(int64(d)) }

// Shifted returns by how much the clock is wrong.
func Shifted() time.Duration { return time.Duration(shift.Load()) }
