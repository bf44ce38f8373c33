package peer

import "github.com/quolldb/quoll/internal/wire"

// Set is all other nodes of the cluster. It does not change after the node has been started.
type Set struct {
	// All are the peers, in the order of their Index.
	All  []*Peer
	byID []*Peer // by member ID, nil for this node
}

// Add adds a peer, and gives it its index.
func (s *Set) Add(p *Peer) {
	p.index = len(s.All)
	s.All = append(s.All, p)
	for len(s.byID) <= int(p.id) {
		s.byID = append(s.byID, nil)
	}
	s.byID[p.id] = p
}

// Of returns a member, nil for this node and for strangers.
func (s *Set) Of(id uint16) *Peer {
	if int(id) >= len(s.byID) {
		return nil
	}
	return s.byID[id]
}

// Compare finds out which peers are slow, in comparison with the others.
func (s *Set) Compare() {
	wire.Compare(len(s.All), func(i int) (*wire.Link, *wire.Pace, bool) {
		p := s.All[i]
		return p.link, &p.pace, p.Alive()
	})
}
