package route

import "github.com/quolldb/quoll/internal/wire"

// LinkState says whether a node answers this proxy.
type LinkState struct {
	Node string
	Up   bool
}

// Links returns the state of the link to each node of the ring, none before the
// ring is known.
func (c *Coordinator) Links() []LinkState {
	view := c.ring.Load()
	if view == nil {
		return nil
	}
	links := make([]LinkState, len(view.nodes))
	for i, l := range view.nodes {
		links[i] = LinkState{Node: view.cluster.Members[i].Name, Up: l.link.State() == wire.Up}
	}
	return links
}
