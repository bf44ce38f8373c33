package world

import (
	"os"
	"sync"
	"time"
)

// deadline is when an operation on a connection is given up, as that of net.Pipe.
type deadline struct {
	mu     sync.Mutex
	timer  *time.Timer
	cancel chan struct{} // closed when it has passed
}

var errTimeout = os.ErrDeadlineExceeded

func makeDeadline() deadline { return deadline{cancel: make(chan struct{})} }

// set sets it. The zero time is none.
func (d *deadline) set(t time.Time) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.timer != nil && !d.timer.Stop() {
		<-d.cancel // the timer closes it
	}
	d.timer = nil
	closed := isClosed(d.cancel)
	if t.IsZero() {
		if closed {
			d.cancel = make(chan struct{})
		}
		return
	}
	if left := time.Until(t); left > 0 {
		if closed {
			d.cancel = make(chan struct{})
		}
		cancel := d.cancel
		d.timer = time.AfterFunc(left, func() { close(cancel) })
		return
	}
	if !closed {
		close(d.cancel)
	}
}

func (d *deadline) done() chan struct{} {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.cancel
}

func (d *deadline) passed() bool { return isClosed(d.done()) }

func isClosed(c <-chan struct{}) bool {
	select {
	case <-c:
		return true
	default:
		return false
	}
}

// await waits until something changes, for so long at most if that is not 0. The error says that the deadline has passed.
func await(changed chan struct{}, wait time.Duration, d *deadline) error {
	var late <-chan time.Time
	if wait > 0 {
		timer := time.NewTimer(wait)
		defer timer.Stop()
		late = timer.C
	}
	select {
	case <-changed:
	case <-late:
	case <-d.done():
		return errTimeout
	}
	return nil
}
