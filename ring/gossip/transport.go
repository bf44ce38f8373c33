package gossip

import (
	"context"
	"fmt"
	"net"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/hashicorp/memberlist"
)

// inner is what a transport has below: memberlist's own one, or one that was lent.
type inner interface {
	FinalAdvertiseAddr(ip string, port int) (net.IP, int, error)
	WriteTo(b []byte, address string) (time.Time, error)
	WriteToAddress(b []byte, a memberlist.Address) (time.Time, error)
	PacketCh() <-chan *memberlist.Packet
	StreamCh() <-chan net.Conn
	Shutdown() error
}

// transport is memberlist's network transport, except that Shutdown abandons dialling
// and closes the open streams of both directions, where memberlist would wait for
// its time-outs.
type transport struct {
	inner
	dial    func(ctx context.Context, address string) (net.Conn, error)
	ctx     context.Context // done once Shutdown began
	cancel  context.CancelFunc
	streams chan net.Conn

	shutdown sync.Once
	stopped  chan struct{} // closed once nothing arrives from the network any more
	wait     sync.WaitGroup

	mu    sync.Mutex
	conns map[*conn]struct{}
}

// transport returns what the configuration says. It takes what arrives.
func (c *Config) transport(m *memberlist.Config) (*transport, error) {
	if c.Network != nil {
		return newTransport(lend(*c.Network), c.Network.Dial), nil
	}
	return listen(m)
}

// listen opens the sockets. Ports that are 0 in the configuration are set.
func listen(m *memberlist.Config) (*transport, error) {
	attempts := 1
	if m.BindPort == 0 {
		attempts = 10 // the port must be free for TCP and for UDP
	}
	var sockets *memberlist.NetTransport
	var err error
	for range attempts {
		sockets, err = memberlist.NewNetTransport(&memberlist.NetTransportConfig{
			BindAddrs: []string{m.BindAddr}, BindPort: m.BindPort, Logger: m.Logger,
		})
		if err == nil || !isErrno(err, syscall.EADDRINUSE) {
			break
		}
	}
	if err != nil {
		return nil, listenError(m.BindAddr, m.BindPort, err)
	}
	m.BindPort = sockets.GetAutoBindPort()
	if m.AdvertisePort == 0 {
		m.AdvertisePort = m.BindPort
	}
	var dialer net.Dialer
	return newTransport(sockets, func(ctx context.Context, address string) (net.Conn, error) {
		return dialer.DialContext(ctx, "tcp", address)
	}), nil
}

func newTransport(below inner, dial func(context.Context, string) (net.Conn, error)) *transport {
	t := &transport{inner: below, dial: dial, streams: make(chan net.Conn), stopped: make(chan struct{}), conns: make(map[*conn]struct{})}
	t.ctx, t.cancel = context.WithCancel(context.Background())
	t.wait.Go(t.accept)
	return t
}

// isErrno looks at the text because memberlist does not wrap the errors it reports.
func isErrno(err error, errno syscall.Errno) bool {
	return strings.Contains(err.Error(), errno.Error())
}

func listenError(host string, port int, err error) error {
	address := net.JoinHostPort(host, fmt.Sprint(port))
	switch {
	case isErrno(err, syscall.EADDRINUSE):
		return fmt.Errorf("%w: another process listens on %s; stop it or choose another gossip address", ErrAddressInUse, address)
	case isErrno(err, syscall.EADDRNOTAVAIL):
		return fmt.Errorf("%w: this machine has no address %s; bind one that it has and advertise the other", ErrConfig, host)
	case isErrno(err, syscall.EACCES):
		return fmt.Errorf("%w: no permission to listen on %s; choose a port above 1023", ErrConfig, address)
	}
	return fmt.Errorf("cannot listen for gossip on %s: %w", address, err)
}

// accept hands incoming streams on to memberlist. It goes on while the listener
// shuts down, which waits until its last stream is taken.
func (t *transport) accept() {
	for {
		select {
		case stream := <-t.inner.StreamCh():
			c := t.track(stream)
			select {
			case t.streams <- c:
			case <-t.ctx.Done():
				_ = c.Close()
			}
		case <-t.stopped:
			return
		}
	}
}

// drain drops the packets that memberlist may no longer take, for the same reason.
func (t *transport) drain() {
	for {
		select {
		case <-t.PacketCh():
		case <-t.stopped:
			return
		}
	}
}

// StreamCh implements memberlist.Transport.
func (t *transport) StreamCh() <-chan net.Conn { return t.streams }

// DialAddressTimeout implements memberlist.NodeAwareTransport.
func (t *transport) DialAddressTimeout(a memberlist.Address, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(t.ctx, timeout)
	defer cancel()
	stream, err := t.dial(ctx, a.Addr)
	if err != nil {
		return nil, err
	}
	return t.track(stream), nil
}

// DialTimeout implements memberlist.Transport.
func (t *transport) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	return t.DialAddressTimeout(memberlist.Address{Addr: addr}, timeout)
}

// Shutdown implements memberlist.Transport.
func (t *transport) Shutdown() error {
	var err error
	t.shutdown.Do(func() {
		t.cancel()
		t.wait.Go(t.drain)
		err = t.inner.Shutdown()
		close(t.stopped)
		t.wait.Wait()
		t.mu.Lock()
		defer t.mu.Unlock()
		for c := range t.conns {
			_ = c.Conn.Close() // its user notices, and calls c.Close
		}
	})
	return err
}

// conn is a stream that Shutdown knows of.
type conn struct {
	net.Conn
	transport *transport
}

func (t *transport) track(stream net.Conn) *conn {
	c := &conn{stream, t}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.conns[c] = struct{}{}
	if t.ctx.Err() != nil {
		_ = stream.Close() // Shutdown may already have closed the others
	}
	return c
}

// Close implements net.Conn.
func (c *conn) Close() error {
	c.transport.mu.Lock()
	delete(c.transport.conns, c)
	c.transport.mu.Unlock()
	return c.Conn.Close()
}
