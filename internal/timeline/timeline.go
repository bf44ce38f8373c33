package timeline

import (
	"sync"
	"time"
)

// Outcome is how an operation ended.
type Outcome int

// The outcomes.
const (
	OK      Outcome = iota // it was done
	Refused                // an error said that nothing was done
	Unknown                // it may have been done
	outcomes
)

// Timeline collects what a run did. It is safe for concurrent use.
type Timeline struct {
	title string
	start time.Time

	mu        sync.Mutex
	width     time.Duration // of an interval
	intervals []interval    // in order, from start
	marks     []mark
}

// interval is what ended within one stretch of time.
type interval struct {
	count   [outcomes]uint64
	latency *histogram // of the operations that succeeded; nil without any
}

// mark is a fault: from when to when, since the start.
type mark struct {
	label    string
	from, to time.Duration
	over     bool
}

const (
	finest       = 100 * time.Millisecond // the first width of an interval
	maxIntervals = 8192                   // of at most 1.5 KiB each
)

// New begins a timeline now.
func New(title string) *Timeline {
	return &Timeline{title: title, start: time.Now(), width: finest}
}

// Add counts an operation that ended at end and took latency. What ended before the timeline
// began counts as if it had ended then.
func (t *Timeline) Add(end time.Time, latency time.Duration, outcome Outcome) {
	t.mu.Lock()
	defer t.mu.Unlock()
	since := max(0, end.Sub(t.start))
	for since/t.width >= maxIntervals {
		t.coarsen()
	}
	for time.Duration(len(t.intervals)) <= since/t.width {
		t.intervals = append(t.intervals, interval{})
	}
	t.intervals[since/t.width].add(latency, outcome)
}

// coarsen makes one interval of every two.
func (t *Timeline) coarsen() {
	t.width *= 2
	half := t.intervals[:0]
	for i := 0; i < len(t.intervals); i += 2 {
		both := t.intervals[i]
		if i+1 < len(t.intervals) {
			both.merge(t.intervals[i+1])
		}
		half = append(half, both)
	}
	clear(t.intervals[len(half):])
	t.intervals = half
}

func (i *interval) add(latency time.Duration, outcome Outcome) {
	i.count[outcome]++
	if outcome != OK {
		return
	}
	if i.latency == nil {
		i.latency = new(histogram)
	}
	i.latency.add(latency)
}

// merge adds what is in other, and may keep its histogram.
func (i *interval) merge(other interval) {
	for o, n := range other.count {
		i.count[o] += n
	}
	switch {
	case i.latency == nil:
		i.latency = other.latency
	case other.latency != nil:
		i.latency.merge(other.latency)
	}
}

// Mark says that a fault begins now. The caller ends it with stop, once; a fault that was not ended
// lasts until the end of the picture.
func (t *Timeline) Mark(label string) (stop func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	n := len(t.marks)
	t.marks = append(t.marks, mark{label: label, from: time.Since(t.start)})
	return func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		t.marks[n].to, t.marks[n].over = time.Since(t.start), true
	}
}

// Percentile returns the latency that a share of q (0 to 1) of the operations did not exceed, of those that
// succeeded and ended in [from, to), within 4 %; 0 if there were none. It counts the intervals that begin in
// [from, to): these are of 100 ms in the first quarter of an hour of a run, and twice as long whenever that has doubled.
func (t *Timeline) Percentile(from, to time.Time, q float64) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	var sum histogram
	for n, i := range t.intervals {
		begin := t.start.Add(time.Duration(n) * t.width)
		if i.latency != nil && !begin.Before(from) && begin.Before(to) {
			sum.merge(i.latency)
		}
	}
	return sum.percentile(q)
}
