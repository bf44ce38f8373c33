package node

import (
	"time"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
)

// The home's clock decides what has expired (R12), so a clock that is wrong would take keys away. Nodes tell each
// other the time by their systems, and use what they have in common (clock.Common).

// tellClock is how often peers are told the time.
const tellClock = 250 * time.Millisecond

// lookAtClock tells the peers the time, and compares theirs with this node's.
func (n *Node) lookAtClock() {
	mono, system := n.mono(), n.system()
	if mono-n.toldClock >= tellClock.Milliseconds() {
		n.toldClock = mono
		frame := clockFrame(system)
		for _, p := range n.peers.All() {
			if p.Alive() {
				p.Send(frame)
			}
		}
	}
	others := make([]int64, 0, len(n.peers.All()))
	for _, p := range n.peers.All() {
		// What one that has ended said last may be what was wrong with it: together with another wrong clock it would be a majority.
		if system, known := p.Clock(mono); known && p.Alive() {
			others = append(others, system)
		}
	}
	wrong := n.clock.Look(mono, system, others, len(n.peers.All())+1)
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
