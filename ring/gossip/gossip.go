package gossip

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
)

// Gossip is this process's part in the gossip, from Start to Close. Its methods may
// be called concurrently.
type Gossip struct {
	cfg   Config
	addr  string
	list  *memberlist.Memberlist
	ring  *memberlist.Keyring // nil if nothing is encrypted
	peers *peers
	log   *logWriter
	news  chan struct{} // the metadata have changed
	// probeInterval is the time between two rounds of pings.
	probeInterval time.Duration

	ctx    context.Context // of the loops
	cancel context.CancelFunc
	loops  sync.WaitGroup

	mu     sync.Mutex // held by Leave and Close
	closed bool
}

// Start listens, and begins to look for the known members. It does not wait until it
// has found any. Errors wrap ErrConfig or ErrAddressInUse where they apply.
func Start(cfg Config) (*Gossip, error) {
	if err := cfg.check(); err != nil {
		return nil, err
	}
	cfg.Logger = cmp.Or(cfg.Logger, slog.Default())
	cfg.RejoinInterval = cmp.Or(cfg.RejoinInterval, 2*time.Second)
	m, err := cfg.memberlist()
	if err != nil {
		return nil, err
	}
	g := &Gossip{
		cfg:   cfg,
		peers: &peers{meta: cfg.Meta, heard: cfg.Heard, log: cfg.Logger, byName: make(map[string]*peer)},
		news:  make(chan struct{}, 1),
		log:   &logWriter{log: cfg.Logger},
	}
	m.Logger = g.log.logger()
	m.Events, m.Delegate, m.Conflict = g.peers, g.peers, g.peers
	if err := g.create(m); err != nil {
		return nil, err
	}
	g.probeInterval = m.ProbeInterval
	g.ctx, g.cancel = context.WithCancel(context.Background())
	g.loops.Go(g.rejoinLoop)
	g.loops.Go(g.pingLoop)
	g.loops.Go(g.metaLoop)
	return g, nil
}

func (g *Gossip) create(m *memberlist.Config) error {
	t, err := g.cfg.transport(m)
	if err != nil {
		return err
	}
	ip, port, err := t.FinalAdvertiseAddr(m.AdvertiseAddr, m.AdvertisePort)
	if err != nil {
		_ = t.Shutdown()
		return fmt.Errorf("%w: no address to advertise for gossip: %w; set one", ErrConfig, err)
	}
	g.ring = m.Keyring
	g.addr = net.JoinHostPort(ip.String(), strconv.Itoa(port))
	m.Transport = t
	if g.cfg.tune != nil {
		g.cfg.tune(m)
	}
	if g.list, err = memberlist.Create(m); err != nil {
		_ = t.Shutdown()
		return fmt.Errorf("start gossip: %w", err)
	}
	return nil
}

// Addr returns the host:port at which the others reach this member, with the real
// port.
func (g *Gossip) Addr() string { return g.addr }

// SetMeta changes this member's metadata, at most MaxMeta bytes, which are kept. The others hear of it soon, or of what it is then. It does not block.
func (g *Gossip) SetMeta(meta []byte) {
	g.peers.setMeta(meta)
	select {
	case g.news <- struct{}{}:
	default:
	}
}

// Members returns everybody seen since the start, this member too, sorted by name.
// Members that died or left stay in the list until a thousand others have gone. The
// caller owns the result.
func (g *Gossip) Members() []Peer { return g.peers.list() }

// Leave tells the others that this member goes, so that they take it for Left and
// not for Dead, and stops looking for members. It waits until the news is out, at
// most for the timeout (a second or so is plenty). Close has to follow. After Close
// it does nothing.
func (g *Gossip) Leave(timeout time.Duration) error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil
	}
	g.cancel()
	message := append(leaving[:len(leaving):len(leaving)], g.cfg.Name...)
	for _, node := range g.peers.others(g.cfg.Name) {
		_ = g.list.SendBestEffort(&node, message) // an error is logged, and the member dies instead
	}
	g.peers.left(g.cfg.Name)
	if err := g.list.Leave(timeout); err != nil {
		return fmt.Errorf("leave the gossip: the others may not know yet and will take %s for dead: %w", g.cfg.Name, err)
	}
	return nil
}

// Close ends the gossip. Without Leave before, the others find this member dead.
// It waits for the goroutines of this package, at most for memberlist's probe
// time-out (0.5 s). memberlist itself may go on waiting for the answer to a last
// probe for about as long; it no longer does anything then. Close may be called again.
func (g *Gossip) Close() error {
	g.mu.Lock()
	defer g.mu.Unlock()
	if g.closed {
		return nil
	}
	g.closed = true
	g.log.quiet.Store(true)
	g.cancel()
	err := g.list.Shutdown() // first: it makes calls in progress fail
	g.loops.Wait()
	return err
}
