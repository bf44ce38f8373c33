package world

import (
	"fmt"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"

	"github.com/quolldb/quoll/ring/gossip"
)

// packets is a net.PacketConn: what is sent arrives after a while, in any order, or is lost.
type packets struct {
	host   *host
	port   uint16
	random *rand.Rand
	in     chan packet
	once   sync.Once
	closed chan struct{}
}

type packet struct {
	bytes []byte
	from  net.Addr
}

// gossipNetwork is what the process on the host gossips over, in one of its lives.
func (h *host) gossipNetwork(life int) (*gossip.Network, error) {
	streams, err := h.listen(gossipPort)
	if err != nil {
		return nil, err
	}
	p := &packets{host: h, port: gossipPort, random: sharedRandom(h.net.seed, "packets", h.name, fmt.Sprint(life)), in: make(chan packet, 128), closed: make(chan struct{})}
	h.mu.Lock()
	defer h.mu.Unlock()
	h.sockets[gossipPort] = p
	return &gossip.Network{Streams: streams, Packets: p, Dial: h.Dial}, nil
}

func (h *host) socket(port uint16) *packets {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.sockets[port]
}

// ReadFrom implements net.PacketConn.
func (p *packets) ReadFrom(b []byte) (int, net.Addr, error) {
	select {
	case got := <-p.in:
		return copy(b, got.bytes), got.from, nil
	case <-p.closed:
		return 0, nil, opError("read", net.ErrClosed)
	}
}

// WriteTo implements net.PacketConn. That a packet is lost is no error.
func (p *packets) WriteTo(b []byte, address net.Addr) (int, error) {
	select {
	case <-p.closed:
		return 0, opError("write", net.ErrClosed)
	default:
	}
	to, port, err := p.host.net.resolve(address.String())
	if err != nil {
		return 0, opError("write", err)
	}
	if !p.host.is(running) {
		return 0, opError("write", syscall.ENETDOWN)
	}
	way := p.host.net.path(p.host.name, to.name)
	if p.random.Int64N(1000) < way.lossy.Load() {
		return len(b), nil
	}
	sent := packet{append([]byte(nil), b...), p.LocalAddr()}
	time.AfterFunc(way.delay(p.random), func() {
		if there := to.socket(port); there != nil && !way.cut.Load() {
			select {
			case there.in <- sent:
			default: // nobody has read for long
			}
		}
	})
	return len(b), nil
}

// Close implements net.PacketConn.
func (p *packets) Close() error {
	p.once.Do(func() { close(p.closed) })
	p.host.mu.Lock()
	defer p.host.mu.Unlock()
	if p.host.sockets[p.port] == p {
		delete(p.host.sockets, p.port)
	}
	return nil
}

// LocalAddr implements net.PacketConn.
func (p *packets) LocalAddr() net.Addr {
	return net.UDPAddrFromAddrPort(netip.AddrPortFrom(p.host.address, p.port))
}

// SetDeadline implements net.PacketConn. Nobody who gossips has one.
func (*packets) SetDeadline(time.Time) error { return nil }

// SetReadDeadline implements net.PacketConn.
func (*packets) SetReadDeadline(time.Time) error { return nil }

// SetWriteDeadline implements net.PacketConn.
func (*packets) SetWriteDeadline(time.Time) error { return nil }
