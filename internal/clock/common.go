package clock

import (
	"slices"
	"sync/atomic"
	"time"
)

// Common is a clock that the processes of a group have in common: a process uses its system's clock as long as that is
// one of a majority of clocks that agree, within Tolerance, and otherwise theirs. So one clock that is wrong, or
// jumps, does no harm; if most jump, because it was they that were wrong, all follow. Where no majority is heard that
// agrees, it goes on as it was. It advances with the monotonic clock between two calls of Look. All times are in
// milliseconds.
type Common struct{ offset atomic.Int64 } // from the monotonic clock

// Tolerance is by how much the clocks of a group may differ.
const Tolerance = time.Second

// Start sets the clock to the system's.
func (c *Common) Start(mono, system int64) { c.offset.Store(system - mono) }

// Now returns the time.
func (c *Common) Now(mono int64) int64 { return mono + c.offset.Load() }

// Look compares the system's clock with those of others, of a group of size processes, this one included, and
// returns by how much it is wrong, 0 if it is not, or if no majority is known to agree. One goroutine calls it.
func (c *Common) Look(mono, system int64, others []int64, size int) (wrong time.Duration) {
	theirs, found := majority(others, size)
	switch {
	case agree(system, others)+1 > size/2, !found && near(system, c.Now(mono)):
		c.offset.Store(system - mono)
	case found:
		c.offset.Store(theirs - mono)
		return time.Duration(system-theirs) * time.Millisecond
	}
	return 0
}

// Differs returns by how much a clock is wrong to join a group of which so many clocks are known, 0 if it is not. known is false if no majority of them agrees.
func Differs(system int64, group []int64) (wrong time.Duration, known bool) {
	theirs, found := majority(group, len(group))
	if !found || near(system, theirs) {
		return 0, found
	}
	return time.Duration(system-theirs) * time.Millisecond, true
}

// near reports whether two clocks agree.
func near(a, b int64) bool { return (time.Duration(a-b) * time.Millisecond).Abs() <= Tolerance }

// agree counts the clocks that agree with one.
func agree(clock int64, others []int64) (n int) {
	for _, other := range others {
		if near(clock, other) {
			n++
		}
	}
	return n
}

// majority returns one of the others with which a majority of the group agrees without this process, if there is one.
func majority(others []int64, size int) (clock int64, found bool) {
	i := slices.IndexFunc(others, func(other int64) bool { return agree(other, others) > size/2 })
	if i < 0 {
		return 0, false
	}
	return others[i], true
}
