package collect

import (
	"container/heap"
	"time"
)

// schedule is slots that wait for something to be done, by when that is, and then by slot. There are thousands, and the next one is asked for as often: nothing goes through all
// of them. One that is not to be collected any more stays until it is its turn.
type schedule struct{ runs byTurn }

type byTurn []*run

func (b byTurn) Len() int      { return len(b) }
func (b byTurn) Swap(i, j int) { b[i], b[j] = b[j], b[i] }
func (b *byTurn) Push(r any)   { *b = append(*b, r.(*run)) }

func (b byTurn) Less(i, j int) bool {
	if c := b[i].notBefore.Compare(b[j].notBefore); c != 0 {
		return c < 0
	}
	return b[i].slot < b[j].slot
}

func (b *byTurn) Pop() any {
	last := len(*b) - 1
	r := (*b)[last]
	(*b)[last] = nil
	*b = (*b)[:last]
	return r
}

// add adds a slot, to be taken when its time has come.
func (s *schedule) add(r *run) { heap.Push(&s.runs, r) }

// take returns the first slot whose time has come, and removes it; nil if there is none.
func (s *schedule) take(now time.Time) *run {
	s.clean()
	if len(s.runs) == 0 || s.runs[0].notBefore.After(now) {
		return nil
	}
	return heap.Pop(&s.runs).(*run)
}

// due returns when the time of the first slot has come, zero if there is none.
func (s *schedule) due() time.Time {
	s.clean()
	if len(s.runs) == 0 {
		return time.Time{}
	}
	return s.runs[0].notBefore
}

// clean removes the first ones as long as they are not to be collected any more.
func (s *schedule) clean() {
	for len(s.runs) > 0 && s.runs[0].life.Err() != nil {
		heap.Pop(&s.runs)
	}
}

// now lets the time of all slots have come.
func (s *schedule) now() {
	for _, r := range s.runs {
		r.notBefore = time.Time{}
	}
	heap.Init(&s.runs)
}

// sooner returns the earlier one of two moments, of which zero is none.
func sooner(a, b time.Time) time.Time {
	if a.IsZero() || !b.IsZero() && b.Before(a) {
		return b
	}
	return a
}
