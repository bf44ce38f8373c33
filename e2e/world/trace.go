package world

import (
	"cmp"
	"fmt"
	"hash/fnv"
	"slices"
	"strings"
	"sync"
	"time"
)

// trace is what has happened in a world, as far as anybody outside of the product can see it.
type trace struct {
	mu     sync.Mutex
	events []event
}

type event struct {
	at   time.Duration
	text string
}

func (t *trace) add(at time.Duration, text string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.events = append(t.events, event{at, text})
}

// sorted returns the events in the order of their times. Of those at one moment the order says nothing.
func (t *trace) sorted() []event {
	t.mu.Lock()
	defer t.mu.Unlock()
	all := slices.Clone(t.events)
	slices.SortFunc(all, func(a, b event) int { return cmp.Or(cmp.Compare(a.at, b.at), strings.Compare(a.text, b.text)) })
	return all
}

// hash tells traces apart.
func (t *trace) hash() uint64 {
	h := fnv.New64a()
	for _, e := range t.sorted() {
		fmt.Fprintln(h, e.at.Nanoseconds(), e.text)
	}
	return h.Sum64()
}

// String is the trace, one event a line.
func (t *trace) String() string {
	var text strings.Builder
	for _, e := range t.sorted() {
		fmt.Fprintf(&text, "%12s  %s\n", e.at.Round(time.Microsecond), e.text)
	}
	return text.String()
}
