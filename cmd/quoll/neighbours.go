package main

import (
	"context"
	"net"

	"github.com/quolldb/quoll/internal/pipes"
)

// peerDialer connects with a peer at its address.
type peerDialer = func(ctx context.Context, address string) (net.Conn, error)

// neighbours are the nodes in this process, which is how others in it reach them: without sockets.
type neighbours struct {
	listeners map[string]*pipes.Listener // by the address that others know
}

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
		return l.Dial(ctx, address)
	}
	return new(net.Dialer).DialContext(ctx, "tcp", address)
}
