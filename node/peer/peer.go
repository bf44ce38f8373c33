package peer

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/metrics"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/transfer"
	"github.com/quolldb/quoll/ring"
)

// Config says who a peer is, and how to reach it.
type Config struct {
	// Member is what the initial cluster, or the ring, says of it.
	Member ring.Member
	// Former says that this life of the member is over: nobody is there to be connected with.
	Former bool
	// Options and Dial are those of the link.
	Options wire.Options
	Dial    func(ctx context.Context, address string) (net.Conn, error)
	// Hello is what this node says of itself, and Judge what it thinks of what the peer says.
	Hello func() wire.Hello
	Judge func(h wire.Hello, props protocol.Properties) error
	// StableAfter is how long the link must have been up for slots to be handed back: 5 s.
	StableAfter time.Duration
	// Pong is called when an answer to a ping has come.
	Pong func()
	// Mono is a monotonic clock in milliseconds, above zero.
	Mono    func() int64
	Metrics *metrics.Node
	// Handler gets what comes on the link.
	Handler Handler
}

// Handler gets what comes on the link to a peer. The goroutine that reads the link calls it.
type Handler interface {
	// Met is called when there is a new connection, with what the peer says of itself. It calls Peer.Meet.
	Met(props *protocol.Properties)
	// Frame gets a frame that is not about the peer itself. body is borrowed.
	Frame(typ wire.FrameType, body []byte, age time.Duration)
	// Idle is called when all frames have been handled that were read together.
	Idle()
	// Down is called when a connection has ended. Nothing comes of it any more.
	Down()
	// Changed is called when the state of the link has changed.
	Changed(s wire.State)
}

// Peer is another node, and the link to it.
type Peer struct {
	index       int // see Index
	former      bool
	id          uint16
	name        string
	address     string
	mono        func() int64
	handler     Handler
	metrics     *metrics.Node
	stableAfter time.Duration
	judge       func(h wire.Hello, props protocol.Properties) error

	link   *wire.Link
	caller *protocol.Caller
	lane   *transfer.Lane // for what is too large for frames

	hello   atomic.Pointer[protocol.Properties] // of the last connection
	member  atomic.Bool                         // it is the member that the ring names, as of the last change
	near    atomic.Bool                         // it is in the rack of this node, as of the last change
	upSince atomic.Int64                        // monotonic milliseconds, 0 while not Up
	upUntil atomic.Int64                        // the same, 0 while Up
	// Since when the last connection is there, in monotonic milliseconds: what was sent before may be lost.
	connectedAt atomic.Int64

	pace wire.Pace
	said said
}

// New returns a peer. Start begins to dial it, Close ends that.
func New(cfg Config) *Peer {
	p := &Peer{former: cfg.Former, id: cfg.Member.ID, name: cfg.Member.Name, address: cfg.Member.Peer, mono: cfg.Mono, handler: cfg.Handler, metrics: cfg.Metrics, judge: cfg.Judge, stableAfter: cmp.Or(cfg.StableAfter, stableAfter)}
	p.upUntil.Store(p.mono())
	options, sent := cfg.Options, cfg.Options.Sent
	options.Sent = func(bytes int) {
		if sent != nil {
			sent(bytes)
		}
		p.traffic().Sent.Add(uint64(bytes))
	}
	p.link = wire.NewLink(wire.LinkConfig{
		Options: options,
		Address: p.address,
		Dial:    cfg.Dial,
		Hello:   cfg.Hello,
		Check:   p.Check,
		OnUp: func(_ uint64, h wire.Hello) {
			props, _ := protocol.DecodeProperties(h) // Check has seen it
			p.handler.Met(&props)
		},
		OnFrame: p.frame,
		OnIdle:  p.handler.Idle,
		OnDown:  func(_ uint64, err error) { p.handler.Idle(); p.caller.Down(err); p.handler.Down() },
		OnState: p.state,
		OnPong:  cfg.Pong,
	})
	p.caller = protocol.NewCaller(p.link)
	p.lane = transfer.NewLane(p.link.Stream)
	return p
}

// Start begins to dial the peer, until ctx ends. It is called once.
func (p *Peer) Start(ctx context.Context) {
	if !p.former {
		p.link.Start(ctx)
	}
}

// Is reports whether this is the link to a member, at its address.
func (p *Peer) Is(m ring.Member, former bool) bool {
	return p.id == m.ID && p.name == m.Name && p.address == m.Peer && p.former == former
}

// Close ends the link, and waits for that.
func (p *Peer) Close() { p.link.Close() }

// Index is a small number that no other peer of the set has at the same time, and that a later one may have.
func (p *Peer) Index() int { return p.index }

// ID is the number of the member that it is.
func (p *Peer) ID() uint16 { return p.id }

// Name is the name of the member that it is.
func (p *Peer) Name() string { return p.name }

// Address is where it listens.
func (p *Peer) Address() string { return p.address }

// Properties are what it said of itself when it was connected last, nil before.
func (p *Peer) Properties() *protocol.Properties { return p.hello.Load() }

// Check judges what the other side says of itself (dialing side).
func (p *Peer) Check(h wire.Hello) error {
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
	return p.judge(h, props)
}

// Meet notes what the peer says of itself on a new connection, and whether that makes it the member that the ring names.
func (p *Peer) Meet(props *protocol.Properties, member bool) {
	p.hello.Store(props)
	p.connectedAt.Store(p.mono())
	p.member.Store(member)
	p.said.leaving.Store(false)
}

// SetMember notes whether the peer is the member that the ring names.
func (p *Peer) SetMember(is bool) { p.member.Store(is) }

// SetNear notes whether the peer is in the rack of this node.
func (p *Peer) SetNear(is bool) { p.near.Store(is) }

// traffic is where the bytes of the link are counted.
func (p *Peer) traffic() *metrics.Traffic {
	if p.near.Load() {
		return &p.metrics.OwnRack
	}
	return &p.metrics.OtherRacks
}

func (p *Peer) state(s wire.State) {
	if s == wire.Up {
		p.upSince.Store(p.mono())
		p.upUntil.Store(0)
	} else {
		p.upSince.Store(0)
		p.upUntil.CompareAndSwap(0, p.mono())
	}
	p.handler.Changed(s)
}

func (p *Peer) frame(typ wire.FrameType, body []byte, age time.Duration) {
	p.metrics.FramesIn.Inc()
	p.metrics.BytesIn.Add(uint64(len(body)))
	p.traffic().Received.Add(uint64(len(body)))
	switch typ {
	case protocol.FrameCallReply:
		p.caller.HandleReply(body, nil)
	case protocol.FramePiece:
		p.caller.HandlePiece()
	case protocol.FrameLeaving:
		p.said.leaving.Store(true)
	case protocol.FrameClock:
		p.HeardClock(body, age)
	case protocol.FrameFull:
		p.heardFull(body)
	}
	p.handler.Frame(typ, body, age)
}

// Send sends frames and returns memory for the next ones: see wire.Link.HandFrames.
func (p *Peer) Send(frames []byte) []byte {
	p.metrics.FramesOut.Inc()
	instead, _ := p.link.HandFrames(frames) // the protocol sends again what is lost
	return instead
}

// Lane is where large objects go to the peer, and what waits for them.
func (p *Peer) Lane() *transfer.Lane { return p.lane }

// Queued is how many bytes wait to be sent to the peer.
func (p *Peer) Queued() int { return p.link.Queued() }

// AwaitRoom waits until no more than so many bytes wait to be sent, for a time at most.
func (p *Peer) AwaitRoom(limit int, patience time.Duration) { p.link.AwaitRoom(limit, patience) }

// Unreachable explains why the peer does not answer.
func (p *Peer) Unreachable() string {
	err := p.link.Err()
	switch {
	case err == nil:
		return "not connected yet"
	case errors.Is(err, wire.ErrSilent):
		return "silent: hung, or cut off"
	}
	return err.Error()
}
