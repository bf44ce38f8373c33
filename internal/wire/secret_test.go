package wire

import (
	"bytes"
	"io"
	"net"
	"testing"

	"github.com/stretchr/testify/require"
)

// heard keeps what goes through it.
type heard struct {
	net.Conn
	sent, received bytes.Buffer
}

func (h *heard) Write(p []byte) (int, error) {
	h.sent.Write(p)
	return h.Conn.Write(p)
}

func (h *heard) Read(p []byte) (int, error) {
	n, err := h.Conn.Read(p)
	h.received.Write(p[:n])
	return n, err
}

// answer has a server that has a secret answer a dialer, and returns what it says of him.
func answer(secret string, dialer func(net.Conn)) error {
	near, far := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		dialer(near)
	}()
	o := Options{Secret: []byte(secret)}.withDefaults()
	_, err := newPeer(far, o).shake(o, func(h *handshake) (Hello, error) {
		return h.accept(func(Hello) (Hello, error) { return Hello{Role: RoleNode, Name: "n17", Cluster: "treasury"}, nil })
	})
	far.Close()
	<-done
	near.Close()
	return err
}

// TestAHandshakeThatWasHeardIsOfNoUse repeats, byte for byte, what a dialer who knows the secret has sent.
func TestAHandshakeThatWasHeardIsOfNoUse(t *testing.T) {
	var wire heard
	o := Options{Secret: []byte("open sesame")}.withDefaults()
	require.NoError(t, answer("open sesame", func(conn net.Conn) {
		wire.Conn = conn
		_, _ = newPeer(&wire, o).shake(o, func(h *handshake) (Hello, error) { return h.dial(Hello{Role: RoleNode, Name: "a"}, nil) })
	}))
	require.Contains(t, wire.sent.String(), `"name":"a"`)
	err := answer("open sesame", func(conn net.Conn) {
		go func() { _, _ = conn.Write(wire.sent.Bytes()) }()
		_, _ = io.Copy(io.Discard, conn)
	})
	require.ErrorIs(t, err, ErrSecret)
}

// TestStrangersLearnNoNames: who does not know the secret hears that this is Quoll, which version of the protocol it
// speaks, and that his secret is another one. No node's name, no cluster's.
func TestStrangersLearnNoNames(t *testing.T) {
	var wire heard
	o := Options{Secret: []byte("a guess")}.withDefaults()
	require.ErrorIs(t, answer("open sesame", func(conn net.Conn) {
		wire.Conn = conn
		_, _ = newPeer(&wire, o).shake(o, func(h *handshake) (Hello, error) { return h.dial(Hello{Role: RoleNode, Name: "a"}, nil) })
	}), ErrSecret)
	require.Contains(t, wire.received.String(), magic)
	require.NotContains(t, wire.received.String(), "n17")
	require.NotContains(t, wire.received.String(), "treasury")
}
