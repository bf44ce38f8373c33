package session

import (
	"slices"
	"sync"
	"time"

	"github.com/quolldb/quoll/internal/command"
)

// maxSlowlog is how long it may be made.
const maxSlowlog = 16384

// slowlog keeps the last commands that took long.
type slowlog struct {
	mu sync.Mutex
	// slowerThan is in microseconds; nothing is kept if it is negative. most is how many are kept.
	slowerThan, most int64
	entries          []slowEntry // oldest first
	next             int64       // the number of the next one
}

// slowEntry is a command that took long.
type slowEntry struct {
	id           int64
	at           time.Time
	took         time.Duration
	args         [][]byte
	client, name string
}

// from returns from which time on commands are kept. It reports false if none are.
func (l *slowlog) from() (time.Duration, bool) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return time.Duration(min(l.slowerThan, int64(1)<<53)) * time.Microsecond, l.slowerThan >= 0 && l.most > 0
}

// add keeps a command if it took long enough. Its arguments are copied.
func (l *slowlog) add(took time.Duration, at time.Time, args [][]byte, client, name string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.slowerThan < 0 || l.most == 0 || took.Microseconds() < l.slowerThan {
		return
	}
	l.entries = append(l.entries, slowEntry{id: l.next, at: at, took: took, args: command.Shortened(args), client: client, name: name})
	l.next++
	l.trim()
}

// trim forgets what is too much, oldest first.
func (l *slowlog) trim() {
	if more := len(l.entries) - int(l.most); more > 0 {
		l.entries = slices.Delete(l.entries, 0, more)
	}
}

// limit changes which commands are kept, and how many.
func (l *slowlog) limit(slowerThan, most int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.slowerThan, l.most = slowerThan, most
	l.trim()
}

// limits returns which commands are kept, and how many.
func (l *slowlog) limits() (slowerThan, most int64) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.slowerThan, l.most
}

// latest returns so many commands, latest first.
func (l *slowlog) latest(n int) []slowEntry {
	l.mu.Lock()
	defer l.mu.Unlock()
	list := slices.Clone(l.entries[max(0, len(l.entries)-n):])
	slices.Reverse(list)
	return list
}

func (l *slowlog) len() int {
	l.mu.Lock()
	defer l.mu.Unlock()
	return len(l.entries)
}

func (l *slowlog) reset() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.entries = nil
}
