package eviction

import (
	"slices"

	"github.com/quolldb/quoll/internal/record"
)

// PoolSize is how many candidates a Pool keeps.
const PoolSize = 16

// Candidate is a key that may go, in the version that it had when it was looked at: if it has another one by then it stays.
type Candidate struct {
	Slot    uint16
	Key     []byte
	Version record.Version
	// Size is about how many bytes of memory it takes.
	Size int
	// Rank is Settings.Rank as of that moment.
	Rank uint64
}

// Pool is the best candidates of the samples of late, as Redis has them: to draw a few at random each time, and keep the good ones that did not go, comes near to the order of all keys. The
// zero value is empty.
type Pool struct {
	all []Candidate // by rank, the highest at the end
}

// Wants reports whether a candidate of this rank would be taken.
func (p *Pool) Wants(rank uint64) bool { return len(p.all) < PoolSize || rank > p.all[0].Rank }

// Add takes a candidate, unless it is there already or the others are better. The pool owns its key then.
func (p *Pool) Add(c Candidate) {
	if !p.Wants(c.Rank) || slices.ContainsFunc(p.all, func(o Candidate) bool { return o.Slot == c.Slot && string(o.Key) == string(c.Key) }) {
		return
	}
	if len(p.all) == PoolSize {
		p.all = slices.Delete(p.all, 0, 1)
	}
	at, _ := slices.BinarySearchFunc(p.all, c.Rank, func(o Candidate, rank uint64) int {
		if o.Rank < rank {
			return -1
		}
		return 1
	})
	p.all = slices.Insert(p.all, at, c)
}

// Take removes the best candidate.
func (p *Pool) Take() (best Candidate, ok bool) {
	last := len(p.all) - 1
	if last < 0 {
		return best, false
	}
	best, p.all[last] = p.all[last], Candidate{}
	p.all = p.all[:last]
	return best, true
}

// Clear forgets all candidates: they were of another policy.
func (p *Pool) Clear() {
	clear(p.all)
	p.all = p.all[:0]
}
