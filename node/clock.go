package node

import (
	"time"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
)

// The home's clock decides what has expired (R12), so a clock that is wrong would take keys away. Nodes tell each
// other the time by their systems, and use what they have in common (clock.Common).

const (
	tellClock = 250 * time.Millisecond // how often peers are told the time,
	clockFor  = 2 * time.Second        // and how long that is good for
)

// lookAtClock tells the peers the time, and compares theirs with this node's.
func (n *Node) lookAtClock() {
	mono, system := n.mono(), n.system()
	if mono-n.toldClock >= tellClock.Milliseconds() {
		n.toldClock = mono
		frame := clockFrame(system)
		for _, p := range n.peers {
			if p.alive() {
				p.send(frame)
			}
		}
	}
	others := make([]int64, 0, len(n.peers))
	for _, p := range n.peers {
		if at := p.clockAt.Load(); at != 0 && mono-at < clockFor.Milliseconds() {
			others = append(others, p.clock.Load()+mono)
		}
	}
	wrong := n.clock.Look(mono, system, others, len(n.peers)+1)
	if before := time.Duration(n.clockWrong.Swap(int64(wrong))); (before == 0) != (wrong == 0) {
		n.reportClock(wrong)
	}
}

func clockFrame(system int64) []byte {
	return wire.EndFrame(wire.AppendUint64(wire.BeginFrame(nil, protocol.FrameClock), uint64(system)), 0)
}

func (n *Node) reportClock(wrong time.Duration) {
	if wrong == 0 {
		n.log.Info("this machine's clock is right again")
		return
	}
	n.log.Warn("this machine's clock is wrong: the other nodes agree on another time, which this one uses; correct it", "ahead", wrong)
}

// heardClock notes the time by a peer's system.
func (n *Node) heardClock(member uint16, body []byte, age time.Duration) {
	d := wire.NewDecoder(body)
	system := int64(d.Uint64())
	if p := n.peerOf(member); p != nil && d.Done() == nil {
		now := n.mono()
		p.clock.Store(system + age.Milliseconds() - now)
		p.clockAt.Store(now)
	}
}
