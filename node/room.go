package node

import (
	"time"

	"github.com/quolldb/quoll/internal/wire"
)

// What a node is to send has a bound, beyond which it executes no more of what proxies ask for: it does not read on, their links
// to it fill up, and in the end clients wait in their sockets. What is dropped for want of room would be worse. A dropped reply costs the connection,
// and makes the outcome of all writes unknown that were under way on it; a dropped request is sent again after seconds.

const (
	// manyRequests is how many bytes may wait for peers (Options.manyRequests in tests), and maxReplies for proxies (serve.go). Connections take what is under way on top of
	// it: up to maxQueued, beyond which requests are dropped, and connections cut.
	manyRequests = 32 << 20
	maxQueued    = 256 << 20
	// roomStep is how often it is looked at whether a peer for which much waits is still alive.
	roomStep = 100 * time.Millisecond
)

// awaitRoom waits until there is room for what more operations of a proxy may make to send, and as long as the engine asks
// for. No stripe may be locked.
func (n *Node) awaitRoom(c *wire.ServerConn, s *session) {
	pause := n.engine.Pause()
	if pause == 0 && c.Queued() <= maxReplies && n.fullPeer() == nil {
		return
	}
	n.Metrics.Waits.Inc()
	n.Idle(c) // what has been executed leaves
	for ; pause > 0; pause -= roomStep {
		time.Sleep(min(pause, roomStep))
		c.Goes()
	}
	c.AwaitRoom(maxReplies)
	for p := n.fullPeer(); p != nil; p = n.fullPeer() {
		p.link.AwaitRoom(n.opt.manyRequests, roomStep)
		c.Goes() // a peer that is alive takes something, or will be dead
	}
	s.out = n.getOutbox()
}

// fullPeer returns a peer for which too much waits, nil if a majority has room, this node counted. A minority that is slow is done without.
func (n *Node) fullPeer() (full *peer) {
	roomy, members := 1, 1
	for _, p := range n.peers {
		if !p.member.Load() {
			continue
		}
		members++
		if p.link.Queued() <= n.opt.manyRequests {
			roomy++
		} else if p.alive() {
			full = p
		}
	}
	if 2*roomy > members {
		return nil
	}
	return full
}
