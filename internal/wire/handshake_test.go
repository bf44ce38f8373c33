package wire

import (
	"errors"
	"io"
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// meet does a handshake and returns what each side has to say.
func meet(dialer, server Options, check func(Hello) error, judge func(Hello) (Hello, error)) (dialed, accepted Hello, dialErr, acceptErr error) {
	near, far := net.Pipe()
	done := make(chan struct{})
	go func() {
		defer close(done)
		o := server.withDefaults()
		accepted, acceptErr = newPeer(far, o).shake(o, func(h *handshake) (Hello, error) { return h.accept(judge) })
		if acceptErr != nil {
			far.Close()
		}
	}()
	o := dialer.withDefaults()
	dialed, dialErr = newPeer(near, o).shake(o, func(h *handshake) (Hello, error) {
		return h.dial(Hello{Role: RoleTool, Name: "me", Properties: map[string]string{"epoch": "7"}}, check)
	})
	if dialErr != nil {
		near.Close()
	}
	<-done
	near.Close()
	far.Close()
	return dialed, accepted, dialErr, acceptErr
}

func TestHandshake(t *testing.T) {
	for _, secret := range []string{"", "open sesame"} {
		o := Options{Secret: []byte(secret)}
		dialed, accepted, dialErr, acceptErr := meet(o, o, nil, accept)
		require.NoError(t, dialErr)
		require.NoError(t, acceptErr)
		require.Equal(t, Hello{Role: RoleNode, Name: "server", Cluster: "test"}, dialed)
		require.Equal(t, Hello{Role: RoleTool, Name: "me", Properties: map[string]string{"epoch": "7"}}, accepted)
	}
}

func TestServerRefusesWithReason(t *testing.T) {
	other := errors.New("my initial cluster is a,b,c\nyours is a,b,d\x1b[2J")
	_, _, dialErr, acceptErr := meet(Options{}, Options{}, nil, func(Hello) (Hello, error) { return Hello{}, other })
	require.ErrorIs(t, acceptErr, other)
	require.ErrorIs(t, dialErr, ErrRefused)
	require.ErrorContains(t, dialErr, "my initial cluster is a,b,c\nyours is a,b,d?[2J")
}

func TestDialerRefusesWithReason(t *testing.T) {
	other := errors.New("this is not the cluster I look for")
	_, _, dialErr, acceptErr := meet(Options{}, Options{}, func(Hello) error { return other }, accept)
	require.ErrorIs(t, dialErr, other)
	require.ErrorIs(t, acceptErr, ErrRefused)
	require.ErrorContains(t, acceptErr, other.Error())
}

func TestSecretsMustBeTheSame(t *testing.T) {
	never := func(Hello) (Hello, error) { panic("a stranger was believed") }
	for _, c := range []struct{ dialer, server, dialErr, acceptErr string }{
		{"a secret", "another", "differ", "differ"},
		{"a secret", "", "the peer has none", "this process has none"},
		{"", "a secret", "this process has none", "the peer has none"},
	} {
		_, _, dialErr, acceptErr := meet(Options{Secret: []byte(c.dialer)}, Options{Secret: []byte(c.server)}, nil, never)
		require.ErrorContains(t, dialErr, c.dialErr)
		require.ErrorContains(t, acceptErr, c.acceptErr)
		require.ErrorIs(t, acceptErr, ErrSecret)
	}
}

// TestProofsCannotBeReflected: a server that knows no secret sends back what the
// dialer proved.
func TestProofsCannotBeReflected(t *testing.T) {
	near, far := net.Pipe()
	go func() { _, _ = io.Copy(far, far) }()
	defer far.Close()
	o := Options{Secret: []byte("a secret")}.withDefaults()
	_, err := newPeer(near, o).shake(o, func(h *handshake) (Hello, error) { return h.dial(Hello{}, nil) })
	require.ErrorIs(t, err, ErrSecret)
	near.Close()
}

func TestOtherVersionsAndStrangers(t *testing.T) {
	greet := func(body []byte) error {
		h := &handshake{in: newFrameReader(strings.NewReader(string(appendFrame(nil, frameGreeting, body))), helloLimit)}
		return h.readGreeting()
	}
	err := greet(append(AppendUvarint([]byte(magic), 9), "whatever there will be"...))
	require.ErrorIs(t, err, ErrVersion)
	require.ErrorContains(t, err, "the peer speaks version 9")
	require.ErrorIs(t, greet([]byte("GET / HTTP/1.1")), ErrProtocol)
	require.ErrorIs(t, greet(AppendUvarint([]byte(magic), ProtocolVersion)), ErrProtocol)
}

func TestHandshakeHasLimits(t *testing.T) {
	near, far := net.Pipe()
	defer near.Close()
	defer far.Close()
	go func() { _, _ = far.Write(appendFrame(nil, frameGreeting, make([]byte, helloLimit))) }()
	o := Options{}.withDefaults()
	_, err := newPeer(near, o).shake(o, func(h *handshake) (Hello, error) { return h.accept(accept) })
	require.ErrorIs(t, err, ErrTooLarge)

	_, _, dialErr, _ := meet(Options{}, Options{}, nil, func(Hello) (Hello, error) {
		return Hello{Name: strings.Repeat("x", helloLimit)}, nil
	})
	require.ErrorIs(t, dialErr, ErrProtocol)
}
