package node

import (
	"context"
	"encoding/binary"
	"fmt"
	"time"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/peer"
	"github.com/quolldb/quoll/node/replica"
	"github.com/quolldb/quoll/ring"
)

// A node that was restarted votes at once, but is back only when those who use it have it again: whoever
// restarts one node after the other, as soon as the last one is ready, would else take their majority
// from proxies and homes that have not dialed again yet. How many proxies there are the other nodes say.

// returnPatience is how long a restarted node waits for the others at most: some may be gone. They
// dial again at least every quarter of a second.
const returnPatience = 3 * time.Second

// lookAtReturn finds out when a restarted node is back, for good: whoever comes later was not there when it left. What it has
// noted that others missed has waited for that (repair.Node).
func (n *Node) lookAtReturn() {
	if !n.returned.Load() && n.returning() == nil {
		n.returned.Store(true)
		n.repairs.Soon()
	}
}

// returning says whom a restarted node waits for, nil if for nobody (any more).
func (n *Node) returning() error {
	if !n.resumed || n.returned.Load() || time.Since(n.started) > returnPatience {
		return nil
	}
	alive, found, proxies := 1, 1, 0
	for _, p := range n.peers.All() {
		h := p.Properties()
		if h == nil || !p.Alive() {
			continue
		}
		alive, proxies = alive+1, max(proxies, h.Proxies)
		if p.Leading() != nil {
			found++
		}
	}
	if nodes := len(n.peers.All()) + 1; alive <= nodes/2 {
		return fmt.Errorf("node %s was restarted, and has found %d of %d nodes so far", n.opt.Name, alive, nodes)
	}
	if found < alive {
		return fmt.Errorf("node %s was restarted, and %d of %d nodes have found it again so far", n.opt.Name, found, alive)
	}
	if found := n.conns.count(wire.RoleProxy); found < proxies {
		return fmt.Errorf("node %s was restarted, and %d of %d proxies have found it again so far", n.opt.Name, found, proxies)
	}
	return nil
}

// Ready implements admin.Backend: the node votes, those who use it have found it, and if it had lost its state it is replaced.
func (n *Node) Ready(context.Context) error {
	if err := n.votes(); err != nil {
		return err
	}
	if err := n.returning(); err != nil {
		return err
	}
	return n.comer.settling()
}

// decodeSlotSet returns nil for what is none.
func decodeSlotSet(body []byte) *ring.SlotSet {
	s := new(ring.SlotSet)
	if len(body) != binary.Size(s) {
		return nil
	}
	for i := range s {
		s[i] = binary.LittleEndian.Uint64(body[8*i:])
	}
	return s
}

// tellLeading tells a node that was found which slots this one leads, or is about to: it may have led them
// before it was restarted, and would take them away in the middle of something. Of what comes later it
// learns as a replica, by what follows on this link.
func (n *Node) tellLeading(p *peer.Peer) {
	var led ring.SlotSet
	n.replicas.Each(func(number uint16, sl *replica.Slot) {
		if sl.Claims() {
			led.Add(number)
		}
	})
	frame := wire.BeginFrame(nil, protocol.FrameLeading)
	for _, word := range led {
		frame = binary.LittleEndian.AppendUint64(frame, word)
	}
	p.Send(wire.EndFrame(frame, 0))
}

// standIn returns the member that led a slot when it found this node, other than the one that is excepted. As long
// as some have not found this node again, they go to the first of the others: then it is that one. 0 is none.
func (n *Node) standIn(slot, except uint16) uint16 {
	if !n.resumed {
		return 0
	}
	for _, p := range n.peers.All() {
		if led := p.Leading(); led != nil && led.Has(slot) && p.ID() != except {
			return p.ID()
		}
	}
	if n.returning() == nil {
		return 0
	}
	for _, id := range n.replicas.View().Table.Members(slot) {
		if n.peers.Of(id) != nil && id != except {
			return id
		}
	}
	return 0
}
