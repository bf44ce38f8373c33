package node

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/node/transfer"
	"github.com/quolldb/quoll/ring"
)

// peer is another node of the initial cluster, and the link to it.
type peer struct {
	node    *Node
	index   int // in Node.peers
	name    string
	address string
	id      uint16
	link    *wire.Link
	caller  *protocol.Caller
	lane    *transfer.Lane // for what is too large for frames

	hello   atomic.Pointer[protocol.Properties] // of the last connection
	member  atomic.Bool                         // inRing, as of the last change
	upSince atomic.Int64                        // monotonic milliseconds, 0 while not Up
	upUntil atomic.Int64                        // the same, 0 while Up
	// Since when the last connection is there, in monotonic milliseconds: what was sent before may be lost.
	connectedAt atomic.Int64

	leading  atomic.Pointer[ring.SlotSet] // when it found this node, nil before
	pace     wire.Pace
	leaving  atomic.Bool  // it is ending, as it said on the connection of the moment
	clock    atomic.Int64 // its system's clock, from this node's monotonic one, in milliseconds
	clockAt  atomic.Int64 // when it said so, in monotonic milliseconds, 0 for never
	slowSaid atomic.Int64 // when it said last that this node is slow, in monotonic milliseconds, 0 for never
	// It has no room for writes, or for more data, until then, in monotonic milliseconds.
	fullUntil, crowdedUntil atomic.Int64

	// What the link's reader works on.
	out      *outbox
	group    group
	messages [groupSize]register.Message
	objects  objects
}

// stableAfter is how long a link must have been up for slots to be handed back.
const stableAfter = 5 * time.Second

func (n *Node) newPeer(index int, m ring.Member) *peer {
	p := &peer{node: n, index: index, name: m.Name, address: m.Peer, id: m.ID}
	p.upUntil.Store(n.mono())
	p.link = wire.NewLink(wire.LinkConfig{
		Options: n.wireOptions(),
		Address: m.Peer,
		Dial:    n.opt.Dial,
		Hello:   n.members.Hello,
		Check:   p.check,
		OnUp: func(_ uint64, h wire.Hello) {
			props, _ := protocol.DecodeProperties(h) // check has seen it
			n.entering.Lock()                        // the cluster may be forming at this moment
			defer n.entering.Unlock()
			p.hello.Store(&props)
			p.connectedAt.Store(n.mono())
			p.member.Store(p.inRing())
			p.leaving.Store(false)
		},
		OnFrame: p.frame,
		OnIdle:  p.idle,
		OnDown:  func(_ uint64, err error) { p.idle(); p.caller.Down(err); p.objects.incoming.Drop() },
		OnState: p.state,
		OnPong:  n.compare,
	})
	p.caller = protocol.NewCaller(p.link)
	p.lane, p.objects = transfer.NewLane(p.link.Stream), n.newObjects()
	return p
}

// check judges what the other side says of itself (dialing side).
func (p *peer) check(h wire.Hello) error {
	props, err := protocol.DecodeProperties(h)
	if err != nil {
		return err
	}
	if h.Role != wire.RoleNode {
		return fmt.Errorf("what answers at %s is a %s, not a node: correct --initial-cluster", p.address, h.Role)
	}
	if h.Name != p.name {
		return fmt.Errorf("node %s was expected at %s, but %s answers there: correct --initial-cluster", p.name, p.address, h.Name)
	}
	return p.node.members.Judge(h, props)
}

func (p *peer) state(s wire.State) {
	if s == wire.Up {
		p.upSince.Store(p.node.mono())
		p.upUntil.Store(0)
		p.tellLeading()
		p.node.repairs.Soon()
		p.node.rebuilds.Soon()
	} else {
		p.upSince.Store(0)
		p.upUntil.CompareAndSwap(0, p.node.mono())
	}
	p.node.log.Debug("peer link", "peer", p.name, "state", s.String())
}

// alive: the link is up and answers.
func (p *peer) alive() bool { return p.upSince.Load() != 0 && p.member.Load() }

// connected: there is a connection, though the peer may be slow to answer.
func (p *peer) connected() bool {
	s := p.link.State()
	return (s == wire.Up || s == wire.Suspect) && p.member.Load()
}

func (p *peer) stable(now int64) bool {
	since := p.upSince.Load()
	return since != 0 && now-since > stableAfter.Milliseconds() && p.member.Load()
}

// goneAfter is how long a peer that leads slots must not have answered for others to do what its slots need in the background.
const goneAfter = time.Second

// gone: the link has not been up for so long that somebody has to do what is the peer's.
func (p *peer) gone(now int64) bool {
	until := p.upUntil.Load()
	return until != 0 && now-until > goneAfter.Milliseconds()
}

// inRing reports whether the process at the other end is the member that the ring
// names, the one that still has its state, and its store has not failed: then it knows the
// ring, and yet does not vote.
func (p *peer) inRing() bool {
	v, h := p.node.view.Load(), p.hello.Load()
	return v != nil && h != nil && v.sameLife(h.Member) && (h.Voting || h.Cluster == nil)
}

// send sends frames and returns memory for the next ones: see wire.Link.HandFrames.
func (p *peer) send(frames []byte) []byte {
	p.node.Metrics.FramesOut.Inc()
	instead, _ := p.link.HandFrames(frames) // the protocol sends again what is lost
	return instead
}

func (p *peer) frame(typ wire.FrameType, body []byte, age time.Duration) {
	p.node.Metrics.FramesIn.Inc()
	p.node.Metrics.BytesIn.Add(uint64(len(body)))
	switch typ {
	case protocol.FrameReplicateReply:
		if !p.member.Load() {
			return
		}
		if p.out == nil {
			p.out = p.node.getOutbox()
		}
		p.replies(body)
	case protocol.FramePiece:
		if !p.member.Load() {
			return
		}
		if err := p.node.piece(&p.objects, body); err != nil {
			p.node.log.Warn("a peer sent a piece of an object that makes no sense", "peer", p.name, "err", err)
		}
	case protocol.FrameCallReply:
		p.caller.HandleReply(body, nil)
	case protocol.FrameObjectsReply:
		p.caller.HandleObjectsReply(body, p.objects.object)
	case protocol.FrameLeaving:
		p.leaving.Store(true)
	case protocol.FrameClock:
		p.node.heardClock(p.id, body, age)
	case protocol.FrameFull:
		p.heardFull(body)
	}
}

// replies hands the replies of a frame to the homes that asked, in groups.
func (p *peer) replies(body []byte) {
	n := p.node
	d := wire.NewDecoder(body)
	d.Ahead = p.objects.object
	count := 0
	for d.More() {
		m := &p.messages[count]
		protocol.DecodeReply(&d, m)
		if err := d.Err(); err != nil {
			n.log.Warn("a peer sent a reply that makes no sense", "peer", p.name, "err", err)
			break
		}
		m.From = p.id
		if d.Missing() {
			n.Metrics.ObjectsLost.Inc()
			continue
		}
		if m.Slot >= ring.Slots {
			continue
		}
		if count++; count == groupSize {
			p.handle(count)
			count = 0
		}
	}
	p.handle(count)
}

// handle hands the first messages to their homes.
func (p *peer) handle(count int) {
	p.node.handleReplies(&p.group, p.messages[:count], p.out)
	clear(p.messages[:count])
}

func (p *peer) idle() {
	if out := p.out; out != nil {
		p.out = nil
		out.flush()
	}
}

// answerTime bounds the time that a peer has for an answer to something rare: one that has just been started may have to count first.
const answerTime = time.Minute

// ask asks the peer for something rare.
func (p *peer) ask(ctx context.Context, method protocol.Method, payload []byte) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, answerTime)
	defer cancel()
	return p.caller.Call(ctx, method, payload)
}

// unreachable explains why the peer does not answer.
func (p *peer) unreachable() string {
	err := p.link.Err()
	switch {
	case err == nil:
		return "not connected yet"
	case errors.Is(err, wire.ErrSilent):
		return "silent: hung, or cut off"
	}
	return err.Error()
}

// gossipKey derives the key that encrypts gossip from the cluster's secret.
func gossipKey(secret []byte) []byte {
	if len(secret) == 0 {
		return nil
	}
	key := sha256.Sum256(append([]byte("quoll gossip\x00"), secret...))
	return key[:]
}
