package peer

import (
	"time"

	"github.com/quolldb/quoll/internal/wire"
)

// stableAfter is how long a link must have been up for slots to be handed back: the default of Config.StableAfter.
const stableAfter = 5 * time.Second

// handBackTime is how long after that whoever leads a slot has had the time to hand it back.
const handBackTime = time.Second

// goneAfter is how long a peer that leads slots must not have answered for others to do what its slots need in the background.
const goneAfter = time.Second

// Member reports whether the process at the other end is the member that the ring names, as of the last change.
func (p *Peer) Member() bool { return p.member.Load() }

// Alive reports whether the link is up and answers.
func (p *Peer) Alive() bool { return p.upSince.Load() != 0 && p.member.Load() }

// Up reports whether it is connected and answers, be it a member or not.
func (p *Peer) Up() bool { return p.link.State() == wire.Up }

// Down reports whether there is no connection.
func (p *Peer) Down() bool { return p.link.State() == wire.Down }

// Connected reports whether there is a connection, though the peer may be slow to answer.
func (p *Peer) Connected() bool {
	s := p.link.State()
	return (s == wire.Up || s == wire.Suspect) && p.member.Load()
}

// Stable reports whether the link has been up for so long that slots may be handed back to the peer.
func (p *Peer) Stable(now int64) bool { return p.aliveFor(now, p.stableAfter) }

// HandedBack reports whether the link has been up for so long that the peer has had the time to hand slots back to this node.
func (p *Peer) HandedBack(now int64) bool { return p.aliveFor(now, p.stableAfter+handBackTime) }

func (p *Peer) aliveFor(now int64, least time.Duration) bool {
	since := p.upSince.Load()
	return since != 0 && now-since > least.Milliseconds() && p.member.Load()
}

// Gone reports whether the link has not been up for so long that somebody has to do what is the peer's.
func (p *Peer) Gone(now int64) bool {
	until := p.upUntil.Load()
	return until != 0 && now-until > goneAfter.Milliseconds()
}

// Working reports whether the peer says that it is behind with its work, and does not want to be given up.
func (p *Peer) Working() bool { return p.link.Working() }

// ConnectedAt is since when the last connection is there, in monotonic milliseconds: what was sent before may be lost.
func (p *Peer) ConnectedAt() int64 { return p.connectedAt.Load() }

// Slow reports whether its answers take much longer than another peer's.
func (p *Peer) Slow() bool { return p.pace.Slow() }
