package wire

import (
	"io"
	"net"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// TestWebRequestsAreNoPeers: a browser can be made to send any method with any body to this port. Its first bytes are a
// length that no greeting has.
func TestWebRequestsAreNoPeers(t *testing.T) {
	handler := newEcho()
	listener := loopback(t)
	serve(t, listener, ServerConfig{Handler: handler})
	for _, method := range []string{"GET", "POST", "PUT", "HEAD", "OPTIONS", "DELETE", "PATCH", "CONNECT"} {
		conn, err := net.Dial("tcp", listener.Addr().String())
		require.NoError(t, err)
		require.NoError(t, conn.SetDeadline(time.Now().Add(10*time.Second)))
		body := string(appendFrame(nil, frameGreeting, []byte(magic))) + string(appendFrame(nil, typeEcho, []byte("x")))
		_, err = io.WriteString(conn, method+" / HTTP/1.1\r\nHost: 127.0.0.1\r\n\r\n"+body)
		require.NoError(t, err)
		_, _ = io.Copy(io.Discard, conn) // until it is closed
		require.NoError(t, conn.Close())
	}
	require.Empty(t, handler.opened)
}
