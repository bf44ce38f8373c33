package wire

import (
	"bufio"
	"io"
	"log/slog"
	"net"
	"net/http"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// lineServer answers each line, as a Redis does, and counts connections.
func lineServer(t *testing.T, answer string) (address string, conns, questions *atomic.Int64) {
	listener := loopback(t)
	conns, questions = new(atomic.Int64), new(atomic.Int64)
	t.Cleanup(func() { listener.Close() })
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			conns.Add(1)
			go func() {
				defer conn.Close()
				lines := bufio.NewScanner(conn)
				for lines.Scan() {
					if lines.Text() == strings.TrimSpace(question) {
						questions.Add(1)
					}
					_, _ = io.WriteString(conn, answer)
				}
				_, _ = io.Copy(io.Discard, conn)
			}()
		}
	}()
	return listener.Addr().String(), conns, questions
}

// lines keeps what is logged.
type lines struct {
	mu   sync.Mutex
	text strings.Builder
}

func (l *lines) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *lines) has(text string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return strings.Contains(l.text.String(), text)
}

func (l *lines) await(t *testing.T, text string) {
	t.Helper()
	require.Eventually(t, func() bool { return l.has(text) }, 10*time.Second, time.Millisecond, text)
}

func linkTo(t *testing.T, address string) *Link {
	l := NewLink(LinkConfig{Options: Options{Logger: quiet}, Address: address})
	l.Start(t.Context())
	t.Cleanup(l.Close)
	return l
}

func TestALinkSaysWhichProtocolItMet(t *testing.T) {
	t.Parallel()
	listener := loopback(t)
	web := &http.Server{Handler: http.NotFoundHandler(), ReadHeaderTimeout: 5 * time.Second, ErrorLog: slog.NewLogLogger(quiet.Handler(), slog.LevelDebug)}
	go func() { _ = web.Serve(listener) }()
	t.Cleanup(func() { web.Close() })
	redis, _, _ := lineServer(t, "-NOAUTH Authentication required.\r\n")
	ssh := loopback(t)
	t.Cleanup(func() { ssh.Close() })
	go func() {
		for {
			conn, err := ssh.Accept()
			if err != nil {
				return
			}
			_, _ = io.WriteString(conn, "SSH-2.0-OpenSSH_9.2\r\n")
			conn.Close()
		}
	}()
	for address, want := range map[string]string{
		listener.Addr().String(): "speaks HTTP: is this the admin port of a node?",
		redis:                    "speaks Redis' protocol: is this the client port of a proxy",
		ssh.Addr().String():      "speaks SSH",
	} {
		l := linkTo(t, address)
		require.Eventually(t, func() bool { return l.Err() != nil && strings.Contains(l.Err().Error(), want) }, 10*time.Second, time.Millisecond, want)
		require.ErrorIs(t, l.Err(), ErrProtocol)
		require.True(t, isFault(l.Err()), "somebody has to look")
	}
}

// TestASilentPeerIsAskedRarely: it may be a node that is slow.
func TestASilentPeerIsAskedRarely(t *testing.T) {
	t.Parallel()
	address, conns, questions := lineServer(t, "")
	l := NewLink(LinkConfig{Options: Options{Logger: quiet, HandshakeTimeout: askAfter + 100*time.Millisecond}, Address: address})
	l.Start(t.Context())
	t.Cleanup(l.Close)
	require.Eventually(t, func() bool { return conns.Load() >= 4 }, 10*time.Second, time.Millisecond)
	l.Close()
	require.NotZero(t, l.asked)
	require.EqualValues(t, 1, questions.Load())
}

// TestAStrangerIsToldWhereItIs: in its own words.
func TestAStrangerIsToldWhereItIs(t *testing.T) {
	handler, log := newEcho(), new(lines)
	listener := loopback(t)
	serve(t, listener, ServerConfig{Options: Options{Logger: slog.New(slog.NewTextHandler(log, &slog.HandlerOptions{Level: slog.LevelWarn}))}, Handler: handler})
	send := func(text string) string {
		conn, err := net.Dial("tcp", listener.Addr().String())
		require.NoError(t, err)
		defer conn.Close()
		require.NoError(t, conn.SetDeadline(time.Now().Add(10*time.Second)))
		_, err = io.WriteString(conn, text)
		require.NoError(t, err)
		answer, _ := io.ReadAll(conn)
		return string(answer)
	}
	require.Contains(t, send("GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"), "This is the peer port of a node, its admin API has another.\n")
	require.Contains(t, send("*2\r\n$7\r\nCOMMAND\r\n$4\r\nDOCS\r\n"), "-ERR this is the peer port of a node, clients connect to a proxy\r\n")
	log.await(t, "speaks HTTP: this is the peer port")
	log.await(t, "speaks Redis' protocol")
	require.Empty(t, send(question))
	require.Empty(t, send("\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"))
	log.await(t, "speaks TLS")
	require.False(t, log.has(errQuestion.Error()), "quoll itself asked that")
	require.Empty(t, handler.opened)
}
