package front_test

import (
	"context"
	"crypto/tls"
	"io"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/certs"
	"github.com/quolldb/quoll/proxy"
	"github.com/quolldb/quoll/proxy/front"
	"github.com/quolldb/quoll/proxy/proxytest"
)

// secured serves with TLS on loopback until the test ends, and returns the settings of a client with a certificate.
func secured(t *testing.T, cfg front.Config, auth certs.ClientAuth) (server *proxy.Server, addr string, client *tls.Config) {
	t.Helper()
	dir := t.TempDir()
	ca, err := certs.NewAuthority(dir, "test", time.Hour)
	require.NoError(t, err)
	open := func(r certs.Request) *certs.Store {
		cert, key, err := ca.Issue(r)
		require.NoError(t, err)
		store, err := certs.Open("test", certs.Files{Cert: cert, Key: key, CA: filepath.Join(dir, certs.CAFile)})
		require.NoError(t, err)
		return store
	}
	config := open(certs.Request{Role: certs.Proxy, Name: "p", Hosts: []string{"127.0.0.1"}, Valid: time.Hour}).Server(auth, tls.VersionTLS12)
	client = open(certs.Request{Role: certs.Client, Name: "alice", Valid: time.Hour}).Client("127.0.0.1")

	server = newServer(cfg, proxytest.NewCluster())
	listener := proxytest.ByFront.Listen(t)
	served := make(chan error, 1)
	go func() { served <- server.ServeTLS(listener, config) }()
	t.Cleanup(func() {
		require.NoError(t, server.Shutdown(context.Background()))
		require.ErrorIs(t, <-served, front.ErrServerClosed)
	})
	return server, listener.Addr().String(), client
}

func ask(t *testing.T, addr string, config *tls.Config) (string, error) {
	t.Helper()
	conn, err := tls.Dial("tcp", addr, config)
	if err != nil {
		return "", err
	}
	defer conn.Close()
	require.NoError(t, conn.SetDeadline(time.Now().Add(10*time.Second)))
	if _, err := io.WriteString(conn, "PING\r\n"); err != nil {
		return "", err
	}
	reply := make([]byte, len("+PONG\r\n"))
	_, err = io.ReadFull(conn, reply)
	return string(reply), err
}

// TestVersionsAndCertificates: TLS 1.2 and 1.3 are served, and what is asked of certificates is kept.
func TestVersionsAndCertificates(t *testing.T) {
	for _, auth := range []certs.ClientAuth{certs.ClientAuthOff, certs.ClientAuthOptional, certs.ClientAuthRequired} {
		_, addr, client := secured(t, front.Config{}, auth)
		for _, version := range []uint16{tls.VersionTLS12, tls.VersionTLS13} {
			with := client.Clone()
			with.MinVersion, with.MaxVersion = version, version
			reply, err := ask(t, addr, with)
			require.NoError(t, err)
			require.Equal(t, "+PONG\r\n", reply)

			without := with.Clone()
			without.Certificates = nil
			_, err = ask(t, addr, without)
			if auth == certs.ClientAuthRequired {
				require.Error(t, err)
			} else {
				require.NoError(t, err)
			}
		}
		old := client.Clone()
		old.MinVersion, old.MaxVersion = tls.VersionTLS11, tls.VersionTLS11
		_, err := ask(t, addr, old)
		require.ErrorContains(t, err, "protocol version")
	}
}

// TestCommonName: who has shown a certificate is known by its name, and nobody else.
func TestCommonName(t *testing.T) {
	server, addr, client := secured(t, front.Config{}, certs.ClientAuthOptional)
	name := func(config *tls.Config) string {
		conn, err := tls.Dial("tcp", addr, config)
		require.NoError(t, err)
		defer conn.Close()
		_, err = io.WriteString(conn, "PING\r\n")
		require.NoError(t, err)
		_, err = io.ReadFull(conn, make([]byte, 7))
		require.NoError(t, err)
		for _, c := range server.Conns() {
			if c.RemoteAddr().String() == conn.LocalAddr().String() {
				return c.CommonName()
			}
		}
		t.Fatal("the connection is not there")
		return ""
	}
	require.Equal(t, "alice", name(client))
	client.Certificates = nil
	require.Empty(t, name(client))
}

// TestStalledHandshakes: handshakes that nobody goes on with end, and keep no client waiting, however many there are.
func TestStalledHandshakes(t *testing.T) {
	server, addr, client := secured(t, front.Config{HandshakeTimeout: time.Minute}, certs.ClientAuthOff)
	for range front.MostHandshakes + 50 {
		conn, err := net.Dial("tcp", addr)
		require.NoError(t, err)
		defer conn.Close()
	}
	reply, err := ask(t, addr, client)
	require.NoError(t, err)
	require.Equal(t, "+PONG\r\n", reply)
	require.Positive(t, server.Stats().HandshakesStalled.Load())
	require.LessOrEqual(t, server.Stats().Clients.Load(), int64(1), "who has not shaken hands is no client")
}

func TestHandshakeTimeout(t *testing.T) {
	server, addr, _ := secured(t, front.Config{HandshakeTimeout: 10 * time.Millisecond}, certs.ClientAuthOff)
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.ReadAll(conn)
	require.NoError(t, err)
	require.EqualValues(t, 1, server.Stats().HandshakesStalled.Load())
}

// TestPlainTextIsRefused: who does not speak TLS gets an alert, and no reply.
func TestPlainTextIsRefused(t *testing.T) {
	server, addr, _ := secured(t, front.Config{}, certs.ClientAuthOff)
	conn, err := net.Dial("tcp", addr)
	require.NoError(t, err)
	defer conn.Close()
	_, err = io.WriteString(conn, "PING\r\n")
	require.NoError(t, err)
	answer, _ := io.ReadAll(conn)
	require.NotContains(t, string(answer), "PONG")
	require.EqualValues(t, 1, server.Stats().HandshakesFailed.Load())
}

// TestIdleClientsHaveNoGoroutines: a client that is silent costs memory only, and not much.
func TestIdleClientsHaveNoGoroutines(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("without epoll each client has a goroutine")
	}
	server, addr, client := secured(t, front.Config{}, certs.ClientAuthOff)
	require.Eventually(t, func() bool { _, err := ask(t, addr, client); return err == nil }, 10*time.Second, time.Millisecond)
	eventually(t, func() bool { return server.Stats().Clients.Load() == 0 }, "it stays")
	before := runtime.NumGoroutine()
	for range 50 {
		conn, err := tls.Dial("tcp", addr, client)
		require.NoError(t, err)
		defer conn.Close()
		_, err = io.WriteString(conn, "PING\r\n")
		require.NoError(t, err)
		_, err = io.ReadFull(conn, make([]byte, 7))
		require.NoError(t, err)
	}
	eventually(t, func() bool { return runtime.NumGoroutine() <= before+3 }, "clients have goroutines")
	require.EqualValues(t, 50, server.Stats().Clients.Load())
}

// TestRotationUnderLoad: certificates change again and again while clients come and go, and nobody notices.
func TestRotationUnderLoad(t *testing.T) {
	dir := t.TempDir()
	ca, err := certs.NewAuthority(dir, "test", time.Hour)
	require.NoError(t, err)
	issue := func() (cert, key string) {
		for _, end := range []string{".crt", ".key"} {
			os.Remove(filepath.Join(dir, certs.FileOf(certs.Proxy, "p")+end))
		}
		cert, key, err := ca.Issue(certs.Request{Role: certs.Proxy, Name: "p", Hosts: []string{"127.0.0.1"}, Valid: time.Hour})
		require.NoError(t, err)
		return cert, key
	}
	cert, key := issue()
	store, err := certs.Open("clients", certs.Files{Cert: cert, Key: key, CA: filepath.Join(dir, certs.CAFile)})
	require.NoError(t, err)
	server := newServer(front.Config{}, proxytest.NewCluster())
	listener := proxytest.ByFront.Listen(t)
	served := make(chan error, 1)
	go func() { served <- server.ServeTLS(listener, store.Server(certs.ClientAuthOff, tls.VersionTLS12)) }()
	serials := map[string]bool{}
	for range 10 {
		issue()
		require.NoError(t, store.Reload())
		for range 5 {
			config := store.Client("127.0.0.1")
			config.Certificates = nil
			config.VerifyConnection = func(state tls.ConnectionState) error {
				serials[state.PeerCertificates[0].SerialNumber.String()] = true
				return nil
			}
			reply, err := ask(t, listener.Addr().String(), config)
			require.NoError(t, err)
			require.True(t, strings.HasPrefix(reply, "+PONG"))
		}
	}
	require.Len(t, serials, 10, "each is in force at once")
	require.NoError(t, server.Shutdown(t.Context()))
	require.ErrorIs(t, <-served, front.ErrServerClosed)
}
