package world

import (
	"os"
	"sync"
	"time"
)

// deadline is when an operation on a connection is given up. One goroutine waits for it, any may set it. All of its life it has one timer: to make one
// for each operation would be a good part of what a world takes.
type deadline struct {
	mu    sync.Mutex
	at    time.Time // zero: never
	timer *time.Timer
}

var errTimeout = os.ErrDeadlineExceeded

func makeDeadline() deadline { return deadline{timer: idleTimer()} }

// idleTimer returns a timer that does not run.
func idleTimer() *time.Timer {
	t := time.NewTimer(time.Hour)
	t.Stop()
	return t
}

// set sets it. The zero time is none.
func (d *deadline) set(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.at = t; t.IsZero() {
		d.timer.Stop()
		return
	}
	d.timer.Reset(time.Until(t))
}

func (d *deadline) passed() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return !d.at.IsZero() && !time.Now().Before(d.at)
}
