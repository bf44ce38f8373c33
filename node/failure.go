package node

import (
	"errors"
	"fmt"

	"github.com/quolldb/quoll/internal/wire"
)

// broken notes that a part of the node has ended that it cannot do without, and tells whoever started it.
func (n *Node) broken(err error) {
	if n.end.CompareAndSwap(nil, &err) {
		n.log.Error("this node cannot go on", "err", err)
		if n.opt.Failed != nil {
			n.opt.Failed(err)
		}
	}
}

// servePeers serves the peer port until the node is closed.
func (n *Node) servePeers() {
	if err := n.server.Serve(n.opt.Listener); err != nil && !errors.Is(err, wire.ErrClosed) {
		n.broken(fmt.Errorf("node %s: no peer can connect any more, start this process again: %w", n.opt.Name, err))
	}
}
