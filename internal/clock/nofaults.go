//go:build !faults

package clock

import "time"

// UnixMilli is the time in Unix milliseconds.
func UnixMilli() int64 { return time.Now().UnixMilli() }
