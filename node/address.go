package node

import (
	"context"
	"time"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/ring/change"
)

// A machine may get another address while its node does not run. The nodes dial where --initial-cluster says, whatever the ring says (membership.Membership), and tell
// proxies that ask. So that those learn it that are connected already, and nodes of which --initial-cluster says nothing, the node that has moved tells the ring.

// addressInterval is the time between two attempts.
const addressInterval = time.Second

// keepAddress has the ring say where this node is, until it does or ctx ends.
func (n *Node) keepAddress(ctx context.Context) {
	select {
	case <-ctx.Done():
		return
	case <-n.Formed():
	}
	ticker := time.NewTicker(addressInterval)
	defer ticker.Stop()
	for {
		self, doc := n.self(), n.Document()
		if life, member := protocol.Life(*doc, &self); !member || life.Peer == self.Peer {
			return
		}
		if err := n.Propose(ctx, change.Entry{Join: &change.Join{Member: self}}); err != nil && ctx.Err() == nil {
			n.log.Debug("the ring does not say yet where this node is", "err", err)
		}
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}
