package node

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/engine"
)

// A node whose disk is full writes nothing: its homes refuse what would have to, its
// replicas act as if such requests had been lost. What can be done without a write goes on. It
// tells its peers, which count it out for writes and do not hand slots back to it.

// space is what a node knows of the room in its engine.
type space struct {
	short atomic.Pointer[error] // what it is short of, nil while there is room

	// What belongs to tick, in monotonic milliseconds:
	roomAt int64 // when there was room again, 0 while there is not
	told   int64 // when the peers were told last
}

const (
	// roomAfter is how long there has to be room before a full node writes again.
	roomAfter = time.Second
	// tellFull is how often a full node tells its peers, and fullFor how long they
	// believe it.
	tellFull = 250 * time.Millisecond
	fullFor  = time.Second
)

// full reports whether a round of work that begins now has to do without writes.
func (n *Node) full() bool {
	if n.space.short.Load() != nil {
		return true
	}
	err := n.engine.Room()
	if !errors.Is(err, engine.ErrFull) { // whatever else it is, the next commit tells
		return false
	}
	if why := err; n.space.short.CompareAndSwap(nil, &why) { // a copy, for what is pointed to is allocated at once
		n.log.Warn("no room for writes: this node refuses them, reads go on; free space or enlarge the disk", "err", err)
	}
	return true
}

// lookForRoom tells the peers that the node is full, and ends that when there has been room
// for a while: a node on the edge does not change its mind at every moment.
func (n *Node) lookForRoom() {
	s, now := &n.space, n.mono()
	if s.short.Load() == nil {
		s.roomAt, s.told = 0, 0
		return
	}
	if err := n.engine.Room(); err != nil {
		s.short.Store(&err)
		s.roomAt = 0
	} else if s.roomAt == 0 {
		s.roomAt = now
	} else if now-s.roomAt >= roomAfter.Milliseconds() {
		s.short.Store(nil)
		n.log.Info("there is room for writes again")
		return
	}
	if s.told == 0 || now-s.told >= tellFull.Milliseconds() {
		s.told = now
		n.conns.tell(wire.RoleNode, wire.EndFrame(wire.BeginFrame(nil, protocol.FrameFull), 0))
	}
}

// full reports whether the peer has no room for writes, as far as it said so.
func (p *peer) full() bool {
	until := p.fullUntil.Load() // 0 for most: the clock is read for each operation else
	return until != 0 && until > p.node.mono()
}
