package node

import (
	"errors"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/register"
)

// A node whose disk is full writes nothing: its homes refuse what would have to, its
// replicas act as if such requests had been lost. What can be done without a write goes on. It
// tells its peers, which count it out for writes and do not hand slots back to it.
//
// A node whose memory is full, which is crowded, refuses only the commands that Redis refuses then, those that may make the data grow. Deletions
// go on, so that it has room again some day. Its replicas take what other homes wrote, for these have room, but not without end
// (engine.ErrBrimful): then what would make the data grow is as if it had been lost. Its peers are told too, for a majority of the replicas must have room.

// space is what a node knows of the room in its engine.
type space struct {
	short atomic.Pointer[error] // what there is no room for writes for, nil while there is
	tight atomic.Pointer[error] // the same for more data only
	// brimful: nor is there for more of what other homes wrote.
	brimful atomic.Bool

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
	s := &n.space
	if s.short.Load() != nil {
		return true
	}
	err := n.engine.Room()
	if err == nil {
		if s.tight.Load() != nil {
			s.brimful.Store(false)
		}
		return false
	}
	why := err // a copy, for what is pointed to is allocated at once
	switch {
	case errors.Is(err, engine.ErrFull):
		if s.short.CompareAndSwap(nil, &why) {
			n.log.Warn("no room for writes: this node refuses them, reads go on; free space or enlarge the disk", "err", err)
		}
		return true
	case errors.Is(err, engine.ErrCrowded):
		s.brimful.Store(errors.Is(err, engine.ErrBrimful))
		if s.tight.CompareAndSwap(nil, &why) {
			n.log.Warn("no memory for more data: this node refuses what makes it grow, reads and deletions go on; delete something, or give nodes more --memory, one after the other", "err", err)
		}
	}
	return false // whatever else it is, the next commit tells
}

// crowded reports whether there is no room for more data.
func (n *Node) crowded() bool { return n.space.tight.Load() != nil }

// overflows reports whether a request of another home would make the data of a brimful node grow.
func (n *Node) overflows(sl *slot, m *register.Message) bool {
	if !n.space.brimful.Load() || m.Kind != register.Accept || !m.IsDelta && !m.State.Live() {
		return false
	}
	held, _, err := sl.acceptor.Read(m.Key)
	return err == nil && (m.IsDelta || !held.State.Live() || m.State.Size() > held.State.Size())
}

// shortOf returns what the node is short of, nil for nothing.
func (s *space) shortOf() *error {
	if short := s.short.Load(); short != nil {
		return short
	}
	return s.tight.Load()
}

// lookForRoom tells the peers that the node is full or crowded, and ends that when there has been room
// for a while: a node on the edge does not change its mind at every moment.
func (n *Node) lookForRoom() {
	s, now := &n.space, n.mono()
	if s.shortOf() == nil {
		s.roomAt, s.told = 0, 0
		return
	}
	if err := n.engine.Room(); err != nil {
		if s.roomAt = 0; errors.Is(err, engine.ErrCrowded) {
			s.tight.Store(&err)
		} else {
			s.short.Store(&err)
		}
	} else if s.roomAt == 0 {
		s.roomAt = now
	} else if now-s.roomAt >= roomAfter.Milliseconds() {
		s.short.Store(nil)
		s.tight.Store(nil)
		n.log.Info("there is room for writes again")
		return
	}
	if s.told == 0 || now-s.told >= tellFull.Milliseconds() {
		s.told = now
		frame := wire.BeginFrame(nil, protocol.FrameFull)
		if s.short.Load() == nil {
			frame = append(frame, protocol.OnlyCrowded)
		}
		n.conns.tell(wire.RoleNode, wire.EndFrame(frame, 0))
	}
}

// heardFull notes that a peer is full, or crowded.
func (p *peer) heardFull(body []byte) {
	until := p.node.mono() + fullFor.Milliseconds()
	if len(body) == 1 && body[0] == protocol.OnlyCrowded {
		p.crowdedUntil.Store(until)
		return
	}
	p.fullUntil.Store(until)
}

// full reports whether the peer has no room for writes, as far as it said so.
func (p *peer) full() bool { return p.reaches(&p.fullUntil) }

// crowded reports whether the peer has no room for more data, as far as it said so.
func (p *peer) crowded() bool { return p.reaches(&p.crowdedUntil) || p.full() }

func (p *peer) reaches(moment *atomic.Int64) bool {
	until := moment.Load() // 0 for most: the clock is read for each operation else
	return until != 0 && until > p.node.mono()
}
