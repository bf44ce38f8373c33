package peer

import (
	"slices"
	"sync"
	"sync/atomic"

	"github.com/quolldb/quoll/internal/wire"
)

// Set is all other nodes of the cluster, and former lives of nodes that slots still name. Any goroutine may use it; it changes as members come and go.
type Set struct {
	mu  sync.Mutex // while it changes
	now atomic.Pointer[members]
}

// members is a Set at one moment. It is immutable.
type members struct {
	all  []*Peer // but for former lives
	byID []*Peer // nil for this node, and for strangers
}

func (s *Set) load() *members {
	if m := s.now.Load(); m != nil {
		return m
	}
	return &members{}
}

// All returns the peers of this moment, without former lives. Nobody changes the slice.
func (s *Set) All() []*Peer { return s.load().all }

// Add adds a peer, and gives it its index. It takes the place of one with its ID, which is removed.
func (s *Set) Add(p *Peer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.without(p.id)
	taken := make([]bool, len(m.all)+1)
	for _, other := range m.all {
		if other.index < len(taken) {
			taken[other.index] = true
		}
	}
	if !p.former {
		p.index = slices.Index(taken, false)
		m.all = append(m.all, p)
	}
	if missing := int(p.id) + 1 - len(m.byID); missing > 0 {
		m.byID = append(m.byID, make([]*Peer, missing)...)
	}
	m.byID[p.id] = p
	s.now.Store(m)
}

// Remove removes the peer with an ID, if there is one. Who holds it may go on to use it; it is to be closed. No slot may name the member any more, as after
// replica.Host.Learn: what is no peer is taken for this node.
func (s *Set) Remove(id uint16) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now.Store(s.without(id))
}

// Keep removes all but some, and returns those that it has removed. What Remove says is true of them.
func (s *Set) Keep(is func(id uint16) bool) (removed []*Peer) {
	for _, p := range s.load().byID {
		if p != nil && !is(p.id) {
			s.Remove(p.id)
			removed = append(removed, p)
		}
	}
	return removed
}

// without returns a copy without one peer.
func (s *Set) without(id uint16) *members {
	old := s.load()
	m := &members{slices.Clone(old.all), slices.Clone(old.byID)}
	m.all = slices.DeleteFunc(m.all, func(p *Peer) bool { return p.id == id })
	if int(id) < len(m.byID) {
		m.byID[id] = nil
	}
	return m
}

// Of returns a member, nil for this node and for strangers. Whoever lets a node know of a ring has added all its members before.
func (s *Set) Of(id uint16) *Peer {
	m := s.now.Load()
	if m == nil || int(id) >= len(m.byID) {
		return nil
	}
	return m.byID[id]
}

// Compare finds out which peers are slow, in comparison with the others.
func (s *Set) Compare() {
	all := s.All()
	wire.Compare(len(all), func(i int) (*wire.Link, *wire.Pace, bool) {
		p := all[i]
		return p.link, &p.pace, p.Alive()
	})
}
