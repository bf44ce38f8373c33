package bench

import (
	"net"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// say listens and answers whatever comes with the same text; with an empty one it closes the connection.
func say(t *testing.T, text string) string {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	t.Cleanup(func() { _ = listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			_, _ = conn.Read(make([]byte, 100))
			_, _ = conn.Write([]byte(text))
			_ = conn.Close()
		}
	}()
	return listener.Addr().String()
}

func TestWrongServersAreSaidInOneLine(t *testing.T) {
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	nobody := closed.Addr().String()
	require.NoError(t, closed.Close())
	hung, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	defer hung.Close()
	for _, tc := range []struct{ address, password, want string }{
		{nobody, "", "nothing listens on ADDR: start the server, or give its --addr"},
		{say(t, "-NOAUTH Authentication required.\r\n"), "", "ADDR wants a password: give --password-file"},
		{say(t, "-WRONGPASS no\r\n"), "x", "ADDR refused the password: WRONGPASS no"},
		{say(t, "-LOADING soon\r\n"), "", "ADDR answered PING with an error: LOADING soon"},
		{say(t, "HTTP/1.1 400 Bad Request\r\n"), "", `ADDR is no server of Redis' protocol: this is not an answer in Redis' protocol: "HTTP/1.1 400 Bad Request\r"`},
		{say(t, ":1\r\n"), "", "ADDR is no server of Redis' protocol: it did not answer PING with PONG"},
		{say(t, ""), "", "ADDR closed the connection instead of answering PING: is it a server of Redis' protocol, and not full? a port for TLS needs --tls"},
		{hung.Addr().String(), "", "ADDR accepted a connection, but did not answer PING within 3s: is it a server of Redis' protocol, and not hung?"},
	} {
		opt := sensible()
		opt.Addresses, opt.Password = []string{tc.address}, tc.password
		_, err := Open(t.Context(), opt)
		require.Error(t, err)
		require.Equal(t, tc.want, strings.ReplaceAll(err.Error(), tc.address, "ADDR"))
	}
}

// TestReadOnlyIsSaid: by each connection, and a server that refuses it is not measured.
func TestReadOnlyIsSaid(t *testing.T) {
	for answer, want := range map[string]string{"+OK": "", "-ERR no cluster": "ADDR refused READONLY: ERR no cluster"} {
		opt := sensible()
		opt.Addresses, opt.ReadOnly = []string{say(t, "+PONG\r\n"+answer+"\r\n")}, true
		conn, err := connect(t.Context(), &opt, opt.Addresses[0])
		if want == "" {
			require.NoError(t, err)
			require.NoError(t, conn.Close())
			continue
		}
		require.ErrorContains(t, err, strings.ReplaceAll(want, "ADDR", opt.Addresses[0]))
	}
}
