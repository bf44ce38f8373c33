package proxy

import (
	"context"
	"errors"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/guesses"
	"go.uber.org/goleak"
)

// TestShutdownDrains: the batch that is being executed is answered, then the
// connections end, and no goroutine is left.
func TestShutdownDrains(t *testing.T) { eachWay(t, testShutdownDrains) }

func testShutdownDrains(t *testing.T, w way) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	started, release := make(chan struct{}), make(chan struct{})
	cluster := newFakeCluster()
	cluster.before = func(*Batch) { close(started); <-release }
	server := NewServer(ServerConfig{}, cluster)
	listener := w.listen(t)
	served := make(chan error, 1)
	go func() { served <- server.Serve(listener) }()

	idle, busy := dial(t, listener.Addr().String()), dial(t, listener.Addr().String())
	require.Equal(t, "+PONG\r\n", idle.do("PING"))
	busy.send("SET a 1")
	<-started
	stopped := make(chan error, 1)
	go func() { stopped <- server.Shutdown(context.Background()) }()
	require.Empty(t, idle.rest())
	require.ErrorIs(t, <-served, ErrServerClosed)
	select {
	case <-stopped:
		t.Fatal("Shutdown did not wait for the batch")
	default:
	}
	close(release)
	require.Equal(t, "+OK\r\n", busy.rest())
	require.NoError(t, <-stopped)
	require.ErrorIs(t, server.Serve(listener), ErrServerClosed)
}

// TestShutdownForced: when patience ends, clients are cut off.
func TestShutdownForced(t *testing.T) { eachWay(t, testShutdownForced) }

func testShutdownForced(t *testing.T, w way) {
	defer goleak.VerifyNone(t, goleak.IgnoreCurrent())
	started := make(chan struct{})
	cluster := newFakeCluster()
	server := NewServer(ServerConfig{}, cluster)
	cluster.before = func(*Batch) { close(started); <-server.ctx.Done() }
	listener := w.listen(t)
	go server.Serve(listener)
	c := dial(t, listener.Addr().String())
	c.send("SET a 1")
	<-started
	ctx, cancel := context.WithTimeout(context.Background(), time.Millisecond)
	defer cancel()
	require.ErrorIs(t, server.Shutdown(ctx), context.DeadlineExceeded)
}

func TestAuthentication(t *testing.T) { eachWay(t, testAuthentication) }

func testAuthentication(t *testing.T, w way) {
	_, addr := w.serve(t, ServerConfig{Password: "secret"}, newFakeCluster())
	c := dial(t, addr)
	const noAuth, wrong = "-NOAUTH Authentication required.\r\n", "-WRONGPASS invalid username-password pair or user is disabled.\r\n"
	require.Equal(t, noAuth, c.do("GET a"))
	require.Equal(t, noAuth, c.do("PING"))
	require.Equal(t, wrong, c.do("AUTH wrong"))
	require.Equal(t, wrong, c.do("AUTH other secret"))
	require.Contains(t, c.do("HELLO 3"), "-NOAUTH HELLO must be called with the client already authenticated")
	require.Equal(t, wrong, c.do("HELLO 3 AUTH default wrong"))
	require.Equal(t, "%7\r\n", c.do("HELLO 3 AUTH default secret SETNAME me")[:4])
	require.Equal(t, "$2\r\nme\r\n", c.do("CLIENT GETNAME"))
	require.Equal(t, "+RESET\r\n", c.do("RESET"))
	require.Equal(t, noAuth, c.do("GET a"))
	c.send("AUTH secret", "GET a")
	require.Equal(t, "+OK\r\n", c.reply())
	require.Equal(t, "$-1\r\n", c.reply())

	for packet, want := range map[string]string{
		"*11\r\n":                        "unauthenticated multibulk length",
		"*2\r\n$20000\r\nx":              "unauthenticated bulk length",
		"*2\r\n$4\r\nAUTH\r\n$99999\r\n": "unauthenticated bulk length",
	} {
		c := dial(t, addr)
		_, err := c.Write([]byte(packet))
		require.NoError(t, err)
		require.Equal(t, "-ERR Protocol error: "+want+"\r\n", c.rest())
	}
	require.Equal(t, "+OK\r\n", dial(t, addr).do("QUIT"))
}

// TestPasswordsAreGuessedSlowly: one address gets tries for a moment, and not 26,000 a second.
func TestPasswordsAreGuessedSlowly(t *testing.T) { eachWay(t, testPasswordsAreGuessedSlowly) }

func testPasswordsAreGuessedSlowly(t *testing.T, w way) {
	server, addr := w.serve(t, ServerConfig{Password: "secret"}, newFakeCluster())
	c := dial(t, addr)
	began := time.Now()
	tries := 0
	for range 500 {
		switch reply := c.do("AUTH guess"); {
		case strings.HasPrefix(reply, "-WRONGPASS "):
			tries++
		default:
			require.Contains(t, reply, "-ERR too many wrong passwords came from this address")
		}
	}
	most := guesses.Burst + int(time.Since(began)/guesses.Every) + 1
	require.LessOrEqual(t, tries, most)
	require.EqualValues(t, tries, server.Stats().Guesses.Wrong.Load())
	require.EqualValues(t, 500-tries, server.Stats().Guesses.Refused.Load())
}

func TestClientListAndKill(t *testing.T) { eachWay(t, testClientListAndKill) }

func testClientListAndKill(t *testing.T, w way) {
	_, addr := w.serve(t, ServerConfig{}, newFakeCluster())
	a, b := dial(t, addr), dial(t, addr)
	a.do("CLIENT SETNAME first")
	a.do("HELLO 3")
	b.do("CLIENT SETINFO LIB-NAME redis-py")
	b.do("GET x")
	list := a.do("CLIENT LIST")
	require.Regexp(t, `^=\d+\r\ntxt:id=1 addr=127.0.0.1:\d+ laddr=127.0.0.1:\d+ fd=-1 name=first age=0 idle=0 flags=N .*cmd=client\|list user=default redir=-1 resp=3 lib-name= lib-ver=`+
		`\nid=2 .*cmd=get .*resp=2 lib-name=redis-py lib-ver=\n\r\n$`, list)
	require.NotContains(t, a.do("CLIENT LIST ID 2"), "id=1")
	require.Equal(t, "=4\r\ntxt:\r\n", a.do("CLIENT LIST TYPE replica"))

	require.Equal(t, "-ERR No such client\r\n", a.do(`CLIENT KILL ""`), "it killed everybody")
	require.Equal(t, ":0\r\n", a.do(`CLIENT KILL ADDR "" SKIPME no`), "it killed everybody")
	require.Equal(t, ":0\r\n", a.do("CLIENT KILL ID 2 ADDR 1.2.3.4:5"))
	require.Equal(t, ":1\r\n", a.do("CLIENT KILL ID 2 TYPE normal USER default"))
	_, err := b.in.ReadByte()
	require.Error(t, err)
	require.Equal(t, "+OK\r\n", a.do("CLIENT KILL "+a.LocalAddr().String()))
	require.Empty(t, a.rest())
}

func TestScan(t *testing.T) { eachWay(t, testScan) }

func testScan(t *testing.T, w way) {
	cluster := newFakeCluster()
	for _, key := range []string{"a1", "a2", "b1", "{x}1", "{x}2", "{x}3"} {
		cluster.data[key] = "v"
	}
	_, addr := w.serve(t, ServerConfig{OutputLimit: 1000}, cluster)
	c := dial(t, addr)
	require.Equal(t, "*2\r\n$1\r\n0\r\n*2\r\n$2\r\na1\r\n$2\r\na2\r\n", c.do("SCAN 0 MATCH a* COUNT 1000 TYPE STRING"))
	require.Equal(t, "*2\r\n$1\r\n0\r\n*0\r\n", c.do("SCAN 0 COUNT 1000 TYPE hash"))
	require.Equal(t, "*2\r\n$1\r\n0\r\n*0\r\n", c.do("SCAN 18446744073709551615"))
	require.Equal(t, "*3\r\n$4\r\n{x}1\r\n$4\r\n{x}2\r\n$4\r\n{x}3\r\n", c.do("KEYS {x}?"))
	cluster.data[string(make([]byte, 2000))] = "v"
	require.Equal(t, "-"+errKeysTooLarge.Error()+"\r\n", c.do("KEYS *"))
	require.Equal(t, ":7\r\n", c.do("DBSIZE"))
	require.Equal(t, "+OK\r\n", c.do("FLUSHALL ASYNC"))
	require.Equal(t, "$-1\r\n", c.do("RANDOMKEY"))
	cluster.err = ErrNoMajority
	for _, command := range []string{"SCAN 0", "KEYS *", "DBSIZE", "FLUSHDB", "RANDOMKEY"} {
		require.Equal(t, string(AppendReply(nil, ErrNoMajority)), c.do(command))
	}
	require.Contains(t, c.do("INFO"), "# Keyspace\r\n")
}

// brokenListener fails a few times, for good at last.
type brokenListener struct {
	net.Listener
	errs []error
}

func (l *brokenListener) Accept() (net.Conn, error) {
	err := l.errs[0]
	l.errs = l.errs[1:]
	return nil, err
}

func TestServeSurvivesAcceptErrors(t *testing.T) {
	inner, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	final := errors.New("the end")
	server := NewServer(ServerConfig{}, newFakeCluster())
	listener := &brokenListener{inner, []error{syscall.EMFILE, syscall.EMFILE, final}}
	require.ErrorIs(t, server.Serve(listener), final)
	require.NoError(t, server.Shutdown(context.Background()))
}
