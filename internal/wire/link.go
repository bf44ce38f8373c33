package wire

import (
	"cmp"
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// LinkConfig says whom a Link connects, and who gets what comes from there. Zero
// durations get defaults; every callback may be nil.
//
// OnUp, OnFrame, OnIdle, OnPong and OnDown are called by one goroutine, in the order of
// events. OnState is called by one goroutine at a time, maybe while OnFrame runs. No
// callback may call Close. A panic in Hello, Check, OnUp, OnFrame or OnIdle costs the
// connection.
type LinkConfig struct {
	Options
	// Address is the peer's TCP address.
	Address string
	// Dial connects to a peer at its address, nil for TCP.
	Dial func(ctx context.Context, address string) (net.Conn, error)
	// Hello returns what this side says of itself on each new connection.
	Hello func() Hello
	// Check judges what the peer says of itself. Its error is sent to the peer.
	Check func(Hello) error

	// OnUp is called after the handshake of a connection. Frames can be sent already.
	OnUp func(generation uint64, peer Hello)
	// OnFrame is called for each frame; body is borrowed for the call. For age see
	// the package comment.
	OnFrame func(typ FrameType, body []byte, age time.Duration)
	// OnIdle is called after frames when no further one is there: the time to send
	// what the frames caused.
	OnIdle func()
	// OnDown is called after the last OnFrame of a connection that was up. Frames that
	// were sent on it may or may not have arrived.
	OnDown func(generation uint64, err error)
	// OnState is called when State changes: after OnUp, before OnDown.
	OnState func(State)
	// OnPong is called when the peer has answered a ping, and RTT has changed.
	OnPong func()

	// PingInterval is the time between pings: 100 ms.
	PingInterval time.Duration
	// SuspectAfter is how long a peer that owes an answer may be silent before it is
	// Suspect: 300 ms. It is noticed up to a PingInterval later.
	SuspectAfter time.Duration
	// DeadAfter is how long a peer may be silent before the connection is given up: 5 s.
	DeadAfter time.Duration
	// DialTimeout is how long connecting may take, without the handshake: 1 s.
	DialTimeout time.Duration
	// MinBackoff and MaxBackoff bound the wait before dialing again, which doubles
	// each time and is jittered: 10 ms, 250 ms.
	MinBackoff, MaxBackoff time.Duration
}

func (c LinkConfig) withDefaults() LinkConfig {
	c.Options = c.Options.withDefaults()
	c.PingInterval = cmp.Or(c.PingInterval, 100*time.Millisecond)
	c.SuspectAfter = cmp.Or(c.SuspectAfter, 300*time.Millisecond)
	c.DeadAfter = cmp.Or(c.DeadAfter, 5*time.Second)
	c.DialTimeout = cmp.Or(c.DialTimeout, time.Second)
	c.MinBackoff = cmp.Or(c.MinBackoff, 10*time.Millisecond)
	c.MaxBackoff = cmp.Or(c.MaxBackoff, 250*time.Millisecond)
	if c.Hello == nil {
		c.Hello = func() Hello { return Hello{} }
	}
	if c.Dial == nil {
		c.Dial = func(ctx context.Context, address string) (net.Conn, error) {
			// net sets TCP_NODELAY by itself.
			return new(net.Dialer).DialContext(ctx, "tcp", address)
		}
	}
	return c
}

// Link is the dialing side of the transport: at most one connection at a time to
// one peer, dialed again for as long as the link lives.
type Link struct {
	cfg    LinkConfig
	cancel context.CancelFunc
	done   sync.WaitGroup

	// current is the connection, nil while there is none.
	current atomic.Pointer[session]
	// generation is that of the last connection that was up.
	generation uint64
	state      atomic.Int32
	working    atomic.Int64 // clock when the peer said last that it is
	silence    atomic.Int64 // as of the last ping, a time.Duration
	trips      trips
	failure    atomic.Pointer[error]
	// What belongs to the goroutine that runs the link: what was warned of; when it was asked in words what is spoken
	// there, and what that was, if it is known and not the peer protocol.
	failures failureLog
	asked    time.Duration
	stranger error
	// plain: the next connection is tried without TLS, as the last one with it did not come about.
	plain bool
}

// NewLink returns a link that does nothing yet.
func NewLink(cfg LinkConfig) *Link { return &Link{cfg: cfg.withDefaults()} }

// Start begins to connect, until ctx ends or Close is called. It is called once.
func (l *Link) Start(ctx context.Context) {
	ctx, l.cancel = context.WithCancel(ctx)
	l.done.Go(func() { l.run(ctx) })
}

// Close ends the connection, drops what was not written, and waits for the link's
// goroutines. No callback comes after it.
func (l *Link) Close() {
	if l.cancel != nil {
		l.cancel()
	}
	l.done.Wait()
}

// SendFrames queues finished frames (BeginFrame, EndFrame), which are copied. It
// never waits for the peer. After an error nothing was queued: ErrDown without
// connection, ErrBacklog when too much waits already, ErrTooLarge or ErrFrame for
// frames that the peer would not take. Without one the frames may still be lost.
func (l *Link) SendFrames(frames []byte) error {
	if s := l.current.Load(); s != nil {
		return s.send(frames)
	}
	return ErrDown
}

// HandFrames is SendFrames, but the frames' memory is given away if they are many bytes, which
// saves a copy. The memory that is returned, empty, is the caller's instead.
func (l *Link) HandFrames(frames []byte) ([]byte, error) {
	if s := l.current.Load(); s != nil {
		return s.hand(frames)
	}
	return frames[:0], ErrDown
}

// SendFramesOn is SendFrames on one certain connection: ErrDown if it is not the
// current one any more.
func (l *Link) SendFramesOn(generation uint64, frames []byte) error {
	if s := l.current.Load(); s != nil && s.generation == generation {
		return s.send(frames)
	}
	return ErrDown
}

// Generation returns the number of the current connection, counting from 1, or 0
// when there is none.
func (l *Link) Generation() uint64 {
	if s := l.current.Load(); s != nil {
		return s.generation
	}
	return 0
}

// State returns what is known of the peer.
func (l *Link) State() State { return State(l.state.Load()) }

// Working reports whether the peer has just said that it is behind with its work and goes on with it, or this side is behind
// with what comes from it: who waits for an answer does so for a reason.
func (l *Link) Working() bool {
	s := l.current.Load()
	if s == nil {
		return false
	}
	at := l.working.Load()
	return at != 0 && clock()-time.Duration(at) < workingFor || s.receives()
}

// Silence returns for how long nothing had been heard of the peer when it was pinged last, without the time in which this process did not run.
func (l *Link) Silence() time.Duration { return time.Duration(l.silence.Load()) }

// Quiet reports whether nothing has been heard of the peer for some pings: it may be about to become suspect.
func (l *Link) Quiet() bool { return l.Silence() >= 2*l.cfg.PingInterval }

// Queued returns how many bytes wait to be written to the peer, or are being written.
func (l *Link) Queued() int {
	if s := l.current.Load(); s != nil {
		return s.out.queued()
	}
	return 0
}

// AwaitRoom waits until no more than limit bytes are Queued, the connection ends, or the time is over. It reports whether there is room.
func (l *Link) AwaitRoom(limit int, patience time.Duration) bool {
	s := l.current.Load()
	if s == nil || s.out.queued() <= limit {
		return true
	}
	return s.out.awaitRoomFor(limit, patience)
}

// RTT returns the moving average of the time a ping takes, 0 before the first. It
// survives reconnecting.
func (l *Link) RTT() time.Duration { return time.Duration(l.trips.average.Load()) }

// Err returns why the last connection or attempt to connect ended, nil while the
// link is connected or before its first attempt ended.
func (l *Link) Err() error {
	if err := l.failure.Load(); err != nil && l.current.Load() == nil {
		return *err
	}
	return nil
}

// run connects again and again.
func (l *Link) run(ctx context.Context) {
	backoff := l.cfg.MinBackoff
	for ctx.Err() == nil {
		began := clock()
		err := l.connect(ctx)
		if ctx.Err() != nil {
			return
		}
		l.report(err)
		// Not each connection that came about: one that ends at once, again and
		// again, shall not be made a hundred times a second.
		if clock()-began > l.cfg.MaxBackoff {
			backoff = l.cfg.MinBackoff
		}
		select {
		case <-ctx.Done():
		case <-time.After(backoff/2 + l.cfg.upTo(backoff/2)):
		}
		backoff = min(2*backoff, l.cfg.MaxBackoff)
	}
}

// report notes why there is no connection, and logs it as far as it is news.
func (l *Link) report(err error) {
	l.failure.Store(&err)
	if level, news := l.failures.level(err, clock()); news {
		l.cfg.Logger.Log(context.Background(), level, "peer connection lost", "address", l.cfg.Address, "error", err)
	}
}

// setState is called by the goroutine that runs the link or by the watcher of
// the session, never both at a time.
func (l *Link) setState(s State) {
	if State(l.state.Swap(int32(s))) != s && l.cfg.OnState != nil {
		l.cfg.OnState(s)
	}
}
