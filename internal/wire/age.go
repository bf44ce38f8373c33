package wire

import "time"

// epoch is where the clock of this process begins.
var epoch = time.Now()

// clock reads the monotonic clock.
func clock() time.Duration { return time.Since(epoch) }

// millis is the clock as stamps carry it. It wraps after 49 days; only
// differences are ever used. It is the process' clock and not the connection's so
// that a frame may outlive the connection it was built for, or go to several.
func millis() uint32 { return uint32(clock().Milliseconds()) }

// ages estimates how long frames of one connection were on their way beyond the
// usual, without knowing how the two clocks relate.
type ages struct {
	started bool
	// usual is the difference of local clock and stamp of the quickest frame.
	usual uint32
	// raised is the local time at which usual was raised last.
	raised uint32
}

// driftPeriod is how many milliseconds usual takes to rise by one: 1000 ppm, more
// than two clocks drift apart and far less than the pauses to be recognised. A
// minimum kept for ever would make every frame old after some days.
const driftPeriod = 1000

// age returns the age of a frame that is read at local and carries stamp.
func (a *ages) age(local, stamp uint32) time.Duration {
	difference := local - stamp
	if n := (local - a.raised) / driftPeriod; n > 0 {
		a.usual += n
		a.raised += n * driftPeriod
	}
	if !a.started || int32(difference-a.usual) < 0 {
		a.started, a.usual, a.raised = true, difference, local
	}
	return time.Duration(difference-a.usual) * time.Millisecond
}
