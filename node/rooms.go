package node

import (
	"context"
	"time"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/hint"
)

// Rooms are the packages below this one that do a part of what a node does: repair, rebuild and membership. Each of them says in interfaces of its
// own what it needs of the node. What several need alike is implemented here, the rest in repairs.go and rebuilds.go.

// publicStripe is a stripe that a room has locked. In an interface it is a pointer, so nothing is allocated for it.
type publicStripe struct{ *stripe }

// Unlock ends that. What homes were given to do leaves.
func (s publicStripe) Unlock() {
	out := s.out
	s.unlock()
	if out != nil {
		out.flush()
	}
}

// publicPeer is a peer.
type publicPeer struct{ *peer }

// ID implements the rooms' Peer.
func (p publicPeer) ID() uint16 { return p.id }

// Name implements the rooms' Peer.
func (p publicPeer) Name() string { return p.name }

// Address implements the rooms' Peer.
func (p publicPeer) Address() string { return p.address }

// Up implements the rooms' Peer.
func (p publicPeer) Up() bool { return p.link.State() == wire.Up }

// Down implements the rooms' Peer.
func (p publicPeer) Down() bool { return p.link.State() == wire.Down }

// Properties implements the rooms' Peer.
func (p publicPeer) Properties() *protocol.Properties { return p.hello.Load() }

// Alive implements the rooms' Peer.
func (p publicPeer) Alive() bool { return p.alive() }

// Connected implements the rooms' Peer.
func (p publicPeer) Connected() bool { return p.connected() }

// Unreachable implements the rooms' Peer.
func (p publicPeer) Unreachable() string { return p.unreachable() }

// Full implements the rooms' Peer.
func (p publicPeer) Full() bool { return p.full() }

// Crowded implements the rooms' Peer.
func (p publicPeer) Crowded() bool { return p.crowded() }

// Hints implements the rooms' Peer. They are there as soon as the node votes.
func (p publicPeer) Hints() *hint.Set {
	if p.node.view.Load() == nil {
		return nil
	}
	return p.node.hintsOf(p.id)
}

// AskObjects implements rebuild.Peer.
func (p publicPeer) AskObjects(ctx context.Context, method protocol.Method, payload []byte) ([]byte, protocol.Objects, error) {
	ctx, cancel := context.WithTimeout(ctx, objectsTime)
	defer cancel()
	return p.caller.CallObjects(ctx, method, payload)
}

// objectsTime bounds the time that a peer has for an answer with large objects. A connection that is lost ends it at once.
const objectsTime = 10 * time.Minute

// Ask implements the rooms' Peer.
func (p publicPeer) Ask(ctx context.Context, method protocol.Method, payload []byte) ([]byte, error) {
	return p.ask(ctx, method, payload)
}
