package register

import (
	"bytes"
	"slices"
	"sync"
)

// keySet holds the keys of a slot that have something in flight. Usually that is
// none or one, so it is a list; it gets an index when it grows.
type keySet struct {
	list  []*keyState
	first [1]*keyState         // backs the list while that is enough
	index map[string]*keyState // nil while the list is short
}

// indexAt is the length from which a keySet has an index.
const indexAt = 8

func (s *keySet) len() int { return len(s.list) }

// all returns the keys, for callers that are done with them when the set changes.
// The order depends on the history only, so that simulations can be replayed.
func (s *keySet) all() []*keyState { return s.list }

// snapshot is all for callers that change the set meanwhile.
func (s *keySet) snapshot() []*keyState { return slices.Clone(s.list) }

func (s *keySet) get(name []byte) *keyState {
	if s.index != nil {
		return s.index[string(name)]
	}
	for _, ks := range s.list {
		if bytes.Equal(ks.key, name) {
			return ks
		}
	}
	return nil
}

// add adds a key that is not there, whose state is to be this empty one.
func (s *keySet) add(name []byte, members int, ks *keyState) {
	ks.key = append(ks.key[:0], name...)
	ks.held = slices.Grow(ks.held[:0], members)[:members]
	clear(ks.held)
	if s.list == nil {
		s.list = s.first[:0]
	}
	ks.place = len(s.list)
	s.list = append(s.list, ks)
	switch {
	case s.index != nil:
		s.index[string(name)] = ks
	case len(s.list) > indexAt:
		s.index = make(map[string]*keyState, 2*indexAt)
		for _, ks := range s.list {
			s.index[string(ks.key)] = ks
		}
	}
}

// remove takes a key out. Nobody may use its state afterwards.
func (s *keySet) remove(ks *keyState) {
	last := len(s.list) - 1
	moved := s.list[last]
	s.list[ks.place], moved.place = moved, ks.place
	s.list[last] = nil
	s.list = s.list[:last]
	if s.index != nil {
		delete(s.index, string(ks.key))
		if last == 0 {
			s.index = nil
		}
	}
	ks.recycle()
}

// reset forgets all keys. Their states live on where somebody still has them.
func (s *keySet) reset() { *s = keySet{} }

var keyPool = sync.Pool{New: func() any {
	ks := new(keyState)
	ks.key, ks.held, ks.queue, ks.waiting = ks.room.key[:0], ks.room.held[:0], ks.room.queue[:0], ks.room.waiting[:0]
	return ks
}}

// newKeyState returns an empty one.
func newKeyState() *keyState { return keyPool.Get().(*keyState) }

// recycle gives the state back to the pool, with its buffers: what it knows is forgotten where it is, which costs less than
// to copy a new one over it.
func (ks *keyState) recycle() {
	ks.keyTerm = keyTerm{}
	ks.key, ks.held, ks.waiting, ks.queue = ks.key[:0], ks.held[:0], ks.waiting[:0], ks.queue[:0]
	keyPool.Put(ks)
}
