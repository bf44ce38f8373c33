package gossip

import (
	"context"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"
)

// Network is what gossip goes over if it does not open sockets itself.
type Network struct {
	// Streams and Packets take what is sent to the member's address, which is that of Streams. Start's Gossip closes them.
	Streams net.Listener
	Packets net.PacketConn
	// Dial connects with another member's address.
	Dial func(ctx context.Context, address string) (net.Conn, error)
}

// largestPacket is the largest that is read, in bytes: as large as UDP's can be.
const largestPacket = 64 << 10

// lent is a memberlist.Transport over a Network. As that of memberlist it needs somebody who takes what arrives until Shutdown has returned.
type lent struct {
	Network
	packets chan *memberlist.Packet
	streams chan net.Conn
	wait    sync.WaitGroup
}

// lend begins to take what arrives.
func lend(n Network) *lent {
	l := &lent{Network: n, packets: make(chan *memberlist.Packet), streams: make(chan net.Conn)}
	l.wait.Go(l.takeStreams)
	l.wait.Go(l.takePackets)
	return l
}

func (l *lent) takeStreams() {
	for {
		conn, err := l.Streams.Accept()
		if err != nil {
			return
		}
		l.streams <- conn
	}
}

func (l *lent) takePackets() {
	buf := make([]byte, largestPacket)
	for {
		n, from, err := l.Packets.ReadFrom(buf)
		if err != nil {
			return
		}
		l.packets <- &memberlist.Packet{Buf: append([]byte(nil), buf[:n]...), From: from, Timestamp: time.Now()}
	}
}

// FinalAdvertiseAddr implements memberlist.Transport.
func (l *lent) FinalAdvertiseAddr(string, int) (net.IP, int, error) {
	at, err := netip.ParseAddrPort(l.Streams.Addr().String())
	if err != nil {
		return nil, 0, fmt.Errorf("%w: the address of what takes streams: %w", ErrConfig, err)
	}
	return at.Addr().AsSlice(), int(at.Port()), nil
}

// WriteToAddress implements memberlist.NodeAwareTransport.
func (l *lent) WriteToAddress(b []byte, a memberlist.Address) (time.Time, error) {
	to, err := netip.ParseAddrPort(a.Addr)
	if err != nil {
		return time.Time{}, err
	}
	_, err = l.Packets.WriteTo(b, net.UDPAddrFromAddrPort(to))
	return time.Now(), err
}

// WriteTo implements memberlist.Transport.
func (l *lent) WriteTo(b []byte, address string) (time.Time, error) {
	return l.WriteToAddress(b, memberlist.Address{Addr: address})
}

// PacketCh implements memberlist.Transport.
func (l *lent) PacketCh() <-chan *memberlist.Packet { return l.packets }

// StreamCh implements memberlist.Transport.
func (l *lent) StreamCh() <-chan net.Conn { return l.streams }

// Shutdown implements memberlist.Transport.
func (l *lent) Shutdown() error {
	_ = l.Streams.Close()
	_ = l.Packets.Close()
	l.wait.Wait()
	return nil
}
