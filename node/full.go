package node

import (
	"time"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
)

// A node without room (replica.Space) tells its peers, which count it out for writes and do not hand slots back to it: a majority of the replicas must
// have room.

// tellFull is how often a full node tells its peers.
const tellFull = 250 * time.Millisecond

// lookForRoom tells the peers that the node is full or crowded, until there has been room for a while.
func (n *Node) lookForRoom() {
	now := n.mono()
	if n.replicas.Space.Look(now) == nil {
		n.toldFull = 0
		return
	}
	if n.toldFull == 0 || now-n.toldFull >= tellFull.Milliseconds() {
		n.toldFull = now
		frame := wire.BeginFrame(nil, protocol.FrameFull)
		if n.replicas.Space.Writes() {
			frame = append(frame, protocol.OnlyCrowded)
		}
		n.conns.tell(wire.RoleNode, wire.EndFrame(frame, 0))
	}
}
