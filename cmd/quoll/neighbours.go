package main

import (
	"context"
	"net"

	"github.com/quolldb/quoll/internal/pipes"
	"github.com/quolldb/quoll/internal/wire"
)

var _ wire.SameProcess = neighbour{}

// peerDialer connects with a peer at its address.
type peerDialer = func(ctx context.Context, address string) (net.Conn, error)

// neighbours are the nodes in this process, which is how others in it reach them: without sockets.
type neighbours struct {
	listeners map[string]*pipes.Listener // by the address that others know
}

// neighbour is a connection with one of them.
type neighbour struct{ net.Conn }

// SameProcess implements wire.SameProcess.
func (neighbour) SameProcess() {}

// join returns the listener for a node that others reach at an address: it accepts what listener does, which it owns, and what dial connects. All have joined before anybody dials.
func (n *neighbours) join(listener net.Listener, address string) net.Listener {
	if n.listeners == nil {
		n.listeners = map[string]*pipes.Listener{}
	}
	joined := pipes.Join(listener)
	n.listeners[address] = joined
	return joined
}

// dial connects with a node at its address, be it in this process or not.
func (n *neighbours) dial(ctx context.Context, address string) (net.Conn, error) {
	if l := n.listeners[address]; l != nil {
		conn, err := l.Dial(ctx, address)
		if err != nil {
			return nil, err
		}
		return neighbour{conn}, nil
	}
	return new(net.Dialer).DialContext(ctx, "tcp", address)
}
