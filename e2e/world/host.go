package world

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"syscall"
)

// host is a machine on the network, with one process.
type host struct {
	net     *network
	name    string
	address netip.Addr

	mu        sync.Mutex
	state     hostState
	listeners map[uint16]*listener
	sockets   map[uint16]*packets
	ports     uint16 // that were given to connections from here
}

type hostState int

const (
	running hostState = iota
	killed            // the process has ended, and the system has told whom it was connected with
	silent            // the machine has lost its power: nobody was told
)

func (h *host) is(s hostState) bool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.state == s
}

// at is an address on the host.
func (h *host) at(port uint16) string { return netip.AddrPortFrom(h.address, port).String() }

// Dial is what the process on the host connects with.
func (h *host) Dial(ctx context.Context, address string) (net.Conn, error) {
	return h.net.dial(ctx, h, address)
}

// listen returns a listener on a port, which must be free.
func (h *host) listen(port uint16) (net.Listener, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if h.state != running || h.listeners[port] != nil {
		return nil, opError("listen", fmt.Errorf("%s:%d: %w", h.name, port, syscall.EADDRINUSE))
	}
	l := &listener{host: h, port: port, backlog: make(chan *end, 128), closed: make(chan struct{})}
	h.listeners[port] = l
	return l, nil
}

func (h *host) listening(port uint16) *listener {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.listeners[port]
}

// freePort returns a port for a connection from here.
func (h *host) freePort() uint16 {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.ports++
	return 32768 + h.ports%28000
}

// die ends the network of the process at once: nothing of what it has not sent arrives. killed says so to whom it was
// connected with, silent does not.
func (h *host) die(how hostState) {
	h.mu.Lock()
	h.state = how
	h.mu.Unlock()
	h.close()
	for _, e := range h.net.open(func(e *end) bool { return e.in.to == h.name }) {
		e.die(how)
	}
}

// close closes what takes connections and packets.
func (h *host) close() {
	h.mu.Lock()
	listeners := h.listeners
	h.listeners, h.sockets = map[uint16]*listener{}, map[uint16]*packets{}
	h.mu.Unlock()
	for _, l := range listeners {
		l.end()
	}
}

// revive lets another process run there. Whoever still believes in a connection with the last one is told that there is none.
func (h *host) revive() {
	h.mu.Lock()
	h.state = running
	h.mu.Unlock()
	for _, e := range h.net.open(func(e *end) bool { return e.in.from == h.name }) {
		e.in.forgotten()
		e.out.leave(false)
	}
}

// listener is a net.Listener.
type listener struct {
	host    *host
	port    uint16
	backlog chan *end
	once    sync.Once
	closed  chan struct{}
}

// Accept implements net.Listener.
func (l *listener) Accept() (net.Conn, error) {
	select {
	case e := <-l.backlog:
		return e, nil
	case <-l.closed:
		return nil, opError("accept", net.ErrClosed)
	}
}

// Close implements net.Listener.
func (l *listener) Close() error {
	l.host.mu.Lock()
	if l.host.listeners[l.port] == l {
		delete(l.host.listeners, l.port)
	}
	l.host.mu.Unlock()
	l.end()
	return nil
}

// end refuses whoever has not been accepted.
func (l *listener) end() {
	l.once.Do(func() { close(l.closed) })
	for {
		select {
		case e := <-l.backlog:
			e.in.breakOff(syscall.ECONNRESET)
			e.Close()
		default:
			return
		}
	}
}

// Addr implements net.Listener.
func (l *listener) Addr() net.Addr {
	return net.TCPAddrFromAddrPort(netip.AddrPortFrom(l.host.address, l.port))
}
