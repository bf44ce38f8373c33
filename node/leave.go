package node

import (
	"context"
	"time"

	"github.com/quolldb/quoll/internal/clock"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
)

// A node that is stopped in order costs no client an error, as long as the others are a
// majority. First its homes begin nothing any more: they finish what is in flight and send what comes to
// other members, which take the slots over, so that no write is caught between two terms. Then proxies and
// nodes are told to send no more, and what they had sent is answered.

// handOver bounds how long a node waits for what is in flight, before it says goodbye.
const handOver = 500 * time.Millisecond

// leave ends a node's work, in 2.5 s or until ctx ends at most.
func (n *Node) leave(ctx context.Context) {
	n.replicas.SetLeaving()
	n.conns.tell(wire.RoleNode, wire.EndFrame(wire.BeginFrame(nil, protocol.FrameLeaving), 0)) // they hand nothing back to it
	handing, cancel := context.WithTimeout(ctx, handOver)
	defer cancel()
	clock.Await(handing, func() bool { return n.replicas.InFlight() == 0 })

	ctx, cancel = context.WithTimeout(ctx, 2*time.Second) // twice what anybody waits for
	defer cancel()
	n.server.Leave(ctx)
	clock.Await(ctx, func() bool { return n.replicas.InFlight() == 0 && n.replicas.Rounds() == 0 }) // what was answered has left, too
}
