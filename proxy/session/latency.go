package session

import (
	"slices"
	"sync"
	"time"

	"github.com/quolldb/quoll/internal/command"
)

// latencySamples is how many samples of an event are kept, as in Redis.
const latencySamples = 160

// The events of a proxy. Redis has others, of its disk and its memory.
const (
	eventCommand     = "command"
	eventFastCommand = "fast-command"
)

// eventOf returns the event of a command that took long.
func eventOf(cmd *command.Command) string {
	if cmd.Flags&command.FlagFast != 0 {
		return eventFastCommand
	}
	return eventCommand
}

// latencyEvents keeps when commands took long, https://redis.io/docs/latest/operate/oss_and_stack/management/optimization/latency-monitor/.
type latencyEvents struct {
	mu        sync.Mutex
	threshold int64 // milliseconds, 0 if nothing is kept
	events    []latencyEvent
}

// latencyEvent is one kind of events: the longest one of each second, oldest first.
type latencyEvent struct {
	name    string
	samples []latencySample
	max     int64
}

// latencySample is one event: when, in seconds since 1970, and how long, in milliseconds.
type latencySample struct{ at, took int64 }

// from returns from which time on commands are events. It reports false if none are.
func (l *latencyEvents) from() (time.Duration, bool) {
	threshold := l.limit()
	return time.Duration(min(threshold, int64(1)<<43)) * time.Millisecond, threshold > 0
}

func (l *latencyEvents) limit() (threshold int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.threshold
}

func (l *latencyEvents) setLimit(threshold int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.threshold = threshold
}

// add keeps an event if it took long enough.
func (l *latencyEvents) add(name string, took time.Duration, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	millis := took.Milliseconds()
	if l.threshold == 0 || millis < l.threshold {
		return
	}
	at := slices.IndexFunc(l.events, func(e latencyEvent) bool { return e.name == name })
	if at < 0 {
		at = len(l.events)
		l.events = append(l.events, latencyEvent{name: name})
	}
	l.events[at].add(latencySample{now.Unix(), millis})
}

func (e *latencyEvent) add(s latencySample) {
	e.max = max(e.max, s.took)
	if n := len(e.samples); n > 0 && e.samples[n-1].at == s.at {
		e.samples[n-1].took = max(e.samples[n-1].took, s.took)
		return
	}
	if len(e.samples) == latencySamples {
		e.samples = slices.Delete(e.samples, 0, 1)
	}
	e.samples = append(e.samples, s)
}

// all returns the events as they are.
func (l *latencyEvents) all() []latencyEvent {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := slices.Clone(l.events)
	for i := range list {
		list[i].samples = slices.Clone(list[i].samples)
	}
	return list
}

// event returns the event of a name, one without samples if there is none.
func (l *latencyEvents) event(name []byte) latencyEvent {
	for _, e := range l.all() {
		if e.name == string(name) {
			return e
		}
	}
	return latencyEvent{}
}

// reset forgets the events of these names, all if there are none, and returns how many these were.
func (l *latencyEvents) reset(names [][]byte) int {
	l.mu.Lock()
	defer l.mu.Unlock()
	before := len(l.events)
	l.events = slices.DeleteFunc(l.events, func(e latencyEvent) bool {
		return len(names) == 0 || slices.ContainsFunc(names, func(name []byte) bool { return is(name, e.name) })
	})
	return before - len(l.events)
}
