package acl

import "slices"

const (
	// DefaultLogLength is how many entries a Log keeps that was told nothing.
	DefaultLogLength = 128
	// groupTime is how far apart in milliseconds, at most, the same denials are one entry, and groupEntries among how many entries it is looked for.
	groupTime    = 60_000
	groupEntries = 10
)

// Entry is a denial, and how often it came.
type Entry struct {
	Count  int64
	Reason Denial
	// Context is toplevel, multi or lua, and Object the command, key or channel.
	Context, Object, User string
	// At is when it came last, in milliseconds since 1970, and Client the line of CLIENT LIST of who tried.
	At     int64
	Client string
}

// Log is what ACL LOG shows. The zero Log keeps nothing; SetLength makes room.
type Log struct {
	entries []Entry // latest first
	most    int
}

// SetLength sets how many entries are kept.
func (l *Log) SetLength(most int) {
	l.most = most
	l.entries = l.entries[:min(len(l.entries), most)]
}

// Length is how many entries are kept.
func (l *Log) Length() int { return l.most }

// Add adds a denial, to the count of one that is the same if there is one.
func (l *Log) Add(e Entry) {
	e.Count = 1
	for i := range l.entries[:min(len(l.entries), groupEntries)] {
		if old := &l.entries[i]; old.same(&e) {
			e.Count += old.Count
			l.entries = slices.Delete(l.entries, i, i+1)
			break
		}
	}
	l.entries = slices.Insert(l.entries, 0, e)
	l.entries = l.entries[:min(len(l.entries), l.most)]
}

// same reports whether two denials are counted together.
func (e *Entry) same(other *Entry) bool {
	apart := e.At - other.At
	return e.Reason == other.Reason && e.Context == other.Context && e.Object == other.Object && e.User == other.User && -groupTime <= apart && apart <= groupTime
}

// Latest returns so many entries, latest first, fewer if there are not as many.
func (l *Log) Latest(count int) []Entry { return slices.Clone(l.entries[:min(count, len(l.entries))]) }

// Reset forgets all entries.
func (l *Log) Reset() { l.entries = nil }
