package node

import (
	"time"

	"github.com/quolldb/quoll/internal/eviction"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/engine"
)

// A node without room (replica.Space) tells its peers, which count it out for writes and do not hand slots back to it: a majority of the replicas must
// have room.

// tellFull is how often a full node tells its peers.
const tellFull = 250 * time.Millisecond

// tellExcess tells the peers how many bytes of data the node has beyond its limit, where homes evict keys.
func (n *Node) tellExcess(now int64) {
	e, ok := n.engine.(engine.Evicting)
	if !ok || e.Eviction().Policy == eviction.NoEviction || now-n.toldExcess < tellFull.Milliseconds() {
		return
	}
	if used, limit := e.Memory(); limit > 0 && used > limit {
		n.toldExcess = now
		frame := append(wire.BeginFrame(nil, protocol.FrameFull), protocol.OverLimit)
		n.conns.tell(wire.RoleNode, wire.EndFrame(wire.AppendUvarint(frame, uint64(used-limit)), 0))
	}
}

// lookForRoom tells the peers that the node is full or crowded, until there has been room for a while.
func (n *Node) lookForRoom() {
	now := n.mono()
	n.tellExcess(now)
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
