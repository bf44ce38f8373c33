//go:build linux

package scenarios

import (
	"fmt"
	"maps"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/quolldb/quoll/e2e/compose"
	"github.com/quolldb/quoll/e2e/outcome"
	"github.com/quolldb/quoll/internal/timeline"
)

// load is a number of clients that work without a pause, one command at a time each: on keys that all of them change, whose
// history is recorded, and on keys of their own, of which each knows what was acknowledged.
type load struct {
	timeline *timeline.Timeline
	history  *histories
	clients  []*client
	began    time.Time
	done     atomic.Int64 // commands answered
	stopping atomic.Bool
	running  sync.WaitGroup

	mu       sync.Mutex
	failures []failure // the first maxFailures
	words    map[string]int
}

// failure is a command that a client got an error for.
type failure struct {
	proxy        string
	began, ended time.Time
	command      string
	err          error
}

const (
	clientsPerProxy = 8
	// maxFailures bounds what is remembered: a minority refuses everything for minutes.
	maxFailures = 10_000
	// pace is the pause of a client after each command: this machine runs the whole cluster.
	pace = 5 * time.Millisecond
	// readTimeout is longer than a proxy takes for any command, 1 s, on a machine that is busy.
	readTimeout = 3 * time.Second
)

// startLoad starts clients of every proxy of the cluster.
func startLoad(t testing.TB, c *compose.Cluster) *load {
	l := &load{timeline: timeline.New(t.Name()), history: newHistories(c.Artefacts), began: time.Now(), words: map[string]int{}}
	for _, p := range c.Proxies {
		for range clientsPerProxy {
			l.clients = append(l.clients, newClient(l, len(l.clients), p))
		}
	}
	for _, c := range l.clients {
		l.running.Go(c.work)
	}
	t.Cleanup(func() {
		l.stop()
		for _, c := range l.clients {
			_ = c.redis.Close()
		}
	})
	return l
}

// stop waits until every command has its answer, and every history is checked.
func (l *load) stop() {
	if !l.stopping.Swap(true) {
		l.running.Wait()
		l.history.finish()
	}
}

// note records an event for the artefacts.
func (l *load) note(format string, args ...any) { l.history.note(fmt.Sprintf(format, args...)) }

// ended counts a command.
func (l *load) ended(p *compose.Service, began time.Time, command []any, err error) outcome.Outcome {
	now, how := time.Now(), outcome.Of(err)
	l.timeline.Add(now, now.Sub(began), map[outcome.Outcome]timeline.Outcome{
		outcome.Answered: timeline.OK, outcome.NoEffect: timeline.Refused, outcome.Unknown: timeline.Unknown}[how])
	if how == outcome.Answered {
		l.done.Add(1)
		return how
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	l.words[outcome.Word(err)]++
	if len(l.failures) < maxFailures {
		l.failures = append(l.failures, failure{p.Name, began, now, strings.Trim(fmt.Sprintf("%v", command), "[]"), err})
	}
	return how
}

// answered counts the commands that clients of a proxy have answers to.
func (l *load) answered(p *compose.Service) (n int64) {
	for _, c := range l.clients {
		if c.proxy == p {
			n += c.answered.Load()
		}
	}
	return n
}

// failed returns the failures so far.
func (l *load) failed() []failure {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]failure{}, l.failures...)
}

// forget drops the failures that were judged: hours of faults make many.
func (l *load) forget() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.failures = nil
}

// errorsByWord counts the errors so far.
func (l *load) errorsByWord() map[string]int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return maps.Clone(l.words)
}
