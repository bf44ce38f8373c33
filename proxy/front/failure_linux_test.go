package front_test

import (
	"net"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/proxy/front"
	"github.com/quolldb/quoll/proxy/proxytest"
)

// TestWithoutItsPollerAServerEnds: its clients would wait for ever, and new ones too.
func TestWithoutItsPollerAServerEnds(t *testing.T) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	s := newServer(front.Config{}, proxytest.NewCluster())
	served := make(chan error, 1)
	go func() { served <- s.Serve(listener) }()
	conn, err := net.Dial("tcp", listener.Addr().String())
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.Write([]byte("PING\r\n"))
	require.NoError(t, err)
	_, err = conn.Read(make([]byte, 7))
	require.NoError(t, err)
	s.StopPoller() // it fails from now on
	require.ErrorContains(t, <-served, "clients cannot be waited for any more")
	require.NoError(t, s.Shutdown(t.Context()))
}
