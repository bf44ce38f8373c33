package bench

import (
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// tally counts what was answered.
type tally struct {
	latency                [kinds]*hdrhistogram.Histogram // µs; nil for what was not answered at all
	errors, missing, wrong [kinds]int64
	lastError              string
}

// The histograms hold three digits, up to two minutes.
const (
	longest = 2 * time.Minute
	digits  = 3
)

func newTally() *tally { return new(tally) }

// of returns the histogram of a kind.
func (t *tally) of(k kind) *hdrhistogram.Histogram {
	if t.latency[k] == nil {
		t.latency[k] = hdrhistogram.New(1, longest.Microseconds(), digits)
	}
	return t.latency[k]
}

// answers is how many commands of a kind were answered without an error.
func (t *tally) answers(k kind) int64 {
	if t.latency[k] == nil {
		return 0
	}
	return t.latency[k].TotalCount()
}

func (t *tally) merge(other *tally) {
	for k := range kinds {
		if other.latency[k] != nil {
			t.of(k).Merge(other.latency[k])
		}
		t.errors[k] += other.errors[k]
		t.missing[k] += other.missing[k]
		t.wrong[k] += other.wrong[k]
	}
	if other.lastError != "" {
		t.lastError = other.lastError
	}
}

// recorder is a tally that some of the connections share: a histogram for each of thousands of them would take hundreds of MiB.
type recorder struct {
	mu sync.Mutex
	*tally
}

// recorders is how many there are, so that they are not fought over.
const recorders = 16

// answered counts n answers that the same read brought.
func (r *recorder) answered(k kind, latency time.Duration, n int) {
	micros := min(max(1, (latency+500*time.Nanosecond).Microseconds()), longest.Microseconds())
	r.mu.Lock()
	_ = r.of(k).RecordValues(micros, int64(n)) // it is within the limits
	r.mu.Unlock()
}

// failed counts n commands that were answered with an error.
func (r *recorder) failed(k kind, n int, text string) {
	r.mu.Lock()
	r.errors[k] += int64(n)
	r.lastError = text
	r.mu.Unlock()
}

func (r *recorder) isMissing(k kind) {
	r.mu.Lock()
	r.missing[k]++
	r.mu.Unlock()
}

func (r *recorder) isWrong(k kind) {
	r.mu.Lock()
	r.wrong[k]++
	r.mu.Unlock()
}

// take returns what was counted, and begins anew.
func (r *recorder) take() *tally {
	r.mu.Lock()
	defer r.mu.Unlock()
	taken := r.tally
	r.tally = newTally()
	return taken
}

// operations is how many commands were answered, with an error or without.
func (r *recorder) operations() (n int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for k := range kinds {
		n += r.answers(k) + r.errors[k]
	}
	return n
}
