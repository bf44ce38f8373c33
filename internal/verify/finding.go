package verify

import (
	"fmt"
	"sync"
)

// Class is what is wrong with an answer.
type Class string

// The classes; see the package's comment.
const (
	Lost  Class = "lost"
	Stale Class = "stale"
	Wrong Class = "wrong"
)

// Finding is one violation.
type Finding struct {
	Class Class  `json:"class"`
	Key   string `json:"key"`
	// Text says what was answered, and what should have been.
	Text string `json:"text"`
}

// String is the finding in a line, or more for a history.
func (f Finding) String() string { return fmt.Sprintf("%s: %s: %s", f.Class, f.Key, f.Text) }

// maxFindings bounds the findings that are kept in full. All are counted.
const maxFindings = 20

// findings counts violations. It is safe for concurrent use.
type findings struct {
	mu    sync.Mutex
	count map[Class]int
	first []Finding
}

// add counts a finding; nil is none.
func (f *findings) add(found *Finding) {
	if found == nil {
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.count == nil {
		f.count = map[Class]int{}
	}
	f.count[found.Class]++
	if len(f.first) < maxFindings {
		f.first = append(f.first, *found)
	}
}

// total is how many there are.
func (f *findings) total() int {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.count[Lost] + f.count[Stale] + f.count[Wrong]
}

// into copies what was found into a report.
func (f *findings) into(r *Report) {
	f.mu.Lock()
	defer f.mu.Unlock()
	r.Lost, r.Stale, r.Wrong, r.Findings = f.count[Lost], f.count[Stale], f.count[Wrong], append([]Finding{}, f.first...)
}
