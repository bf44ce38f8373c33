package exec

import (
	"time"

	"github.com/quolldb/quoll/node/peer"
	"github.com/quolldb/quoll/node/replica"
)

// What a node is to send has a bound, beyond which it executes no more of what proxies ask for: it does not read on, their links
// to it fill up, and in the end clients wait in their sockets. What is dropped for want of room would be worse. A dropped reply costs the connection,
// and makes the outcome of all writes unknown that were under way on it; a dropped request is sent again after seconds.

// roomStep is how often it is looked at whether a peer for which much waits is still alive.
const roomStep = 100 * time.Millisecond

// pauseStep is how often it is looked at whether the engine still asks for a pause.
const pauseStep = 2 * time.Millisecond

// awaitRoom waits until there is room for what more operations of a proxy may make to send, and as long as the engine asks
// for. No stripe may be locked.
func (e *Executor) awaitRoom(c *replica.Conn) {
	pause := e.host.Pause()
	if pause == 0 && c.Queued() <= replica.MaxReplies && e.fullPeer() == nil {
		return
	}
	e.opt.Metrics.Waits.Inc()
	c.Flush()                                                   // what has been executed leaves
	for ; pause > 0 && e.host.Pause() > 0; pause -= pauseStep { // it may be over sooner
		time.Sleep(min(pause, pauseStep))
		c.Goes()
	}
	c.AwaitRoom(replica.MaxReplies)
	for p := e.fullPeer(); p != nil; p = e.fullPeer() {
		p.AwaitRoom(e.opt.ManyRequests, roomStep)
		c.Goes() // a peer that is alive takes something, or will be dead
	}
	c.Begin(e.host)
}

// fullPeer returns a peer for which too much waits, nil if a majority has room, this node counted. A minority that is slow is done without.
func (e *Executor) fullPeer() (full *peer.Peer) {
	roomy, members := 1, 1
	for _, p := range e.peers.All() {
		if !p.Member() {
			continue
		}
		members++
		if p.Queued() <= e.opt.ManyRequests {
			roomy++
		} else if p.Alive() {
			full = p
		}
	}
	if 2*roomy > members {
		return nil
	}
	return full
}
