package session

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/proxy/proxytest"
)

const invalidK = ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nk\r\n"

// TestTracking: who has read a key is told once when somebody writes it, and what was said of OPTIN, OPTOUT and NOLOOP holds.
func TestTracking(t *testing.T) { proxytest.EachWay(t, testTracking) }

func testTracking(t *testing.T, w proxytest.Way) {
	_, addr := serve(t, w, Config{}, proxytest.NewCluster())
	reader, writer := proxytest.Dial(t, addr), proxytest.Dial(t, addr)
	require.Contains(t, reader.Do("HELLO 3"), "proto")
	write := func() { t.Helper(); require.Equal(t, "+OK\r\n", writer.Do("SET k v")) }
	read := func() { t.Helper(); require.Equal(t, "$1\r\nv\r\n", reader.Do("GET k")) }
	says := func(line string) { t.Helper(); require.Equal(t, "+OK\r\n", reader.Do(line)) }
	told := func() { t.Helper(); require.Equal(t, invalidK, reader.Reply()) }
	untold := func() { t.Helper(); require.Equal(t, "+PONG\r\n", reader.Do("PING")) }
	write()
	says("CLIENT TRACKING ON")
	read()
	write()
	told()
	write()
	untold()
	says("CLIENT TRACKING OFF")

	says("CLIENT TRACKING ON OPTIN")
	read()
	write()
	untold()
	says("CLIENT CACHING YES")
	read()
	read() // which it does not keep
	write()
	told()
	says("CLIENT CACHING YES")
	says("MULTI")
	require.Equal(t, "+QUEUED\r\n", reader.Do("GET k"))
	require.Equal(t, "*1\r\n$1\r\nv\r\n", reader.Do("EXEC"))
	write()
	told()
	says("CLIENT TRACKING OFF")

	says("CLIENT TRACKING ON OPTOUT NOLOOP")
	says("CLIENT CACHING NO")
	read()
	write()
	untold()
	read()
	says("SET k v") // it knows that
	untold()
	read()
	write()
	told()
	says("CLIENT TRACKING OFF")

	id := strings.TrimSpace(reader.Do("CLIENT ID")[1:])
	require.Equal(t, "+OK\r\n", writer.Do("CLIENT TRACKING ON REDIRECT "+id))
	require.Equal(t, "$1\r\nv\r\n", writer.Do("GET k"))
	write()
	told()
	require.Equal(t, "+OK\r\n", writer.Do("CLIENT TRACKING OFF"))
	old := proxytest.Dial(t, addr) // which speaks RESP2
	id = strings.TrimSpace(old.Do("CLIENT ID")[1:])
	require.Contains(t, old.Do("SUBSCRIBE __redis__:invalidate"), "subscribe")
	require.Equal(t, "+OK\r\n", writer.Do("CLIENT TRACKING ON REDIRECT "+id))
	require.Equal(t, "$1\r\nv\r\n", writer.Do("GET k"))
	write()
	require.Equal(t, "*3\r\n$7\r\nmessage\r\n$20\r\n__redis__:invalidate\r\n*1\r\n$1\r\nk\r\n", old.Reply())
}

// TestTrackingRefuses: options that make no sense are refused as in Redis, and change nothing.
func TestTrackingRefuses(t *testing.T) {
	_, addr := startServer(t, Config{}, proxytest.NewCluster())
	c := proxytest.Dial(t, addr)
	for options, err := range map[string]error{
		"foo": errSyntax, "ON foo": errSyntax, "ON PREFIX a": errPrefix, "ON REDIRECT 99": errNoRedirect, "ON REDIRECT x": errNotInteger, "ON REDIRECT": errSyntax,
		"ON OPTIN OPTOUT": errInAndOut, "ON BCAST OPTIN": errOptAndAll,
	} {
		require.Equal(t, errorReply(err), c.Do("CLIENT TRACKING "+options), options)
		require.Equal(t, ":-1\r\n", c.Do("CLIENT GETREDIR"), options)
	}
	require.Equal(t, errorReply(errCachingWithout), c.Do("CLIENT CACHING YES"))
	require.Equal(t, "+OK\r\n", c.Do("CLIENT TRACKING on noloop optin"))
	require.Equal(t, errorReply(errSwitchOpt), c.Do("CLIENT TRACKING ON OPTOUT"))
	require.Equal(t, errorReply(errCachingNo), c.Do("CLIENT CACHING NO"))
	require.Equal(t, ":0\r\n", c.Do("CLIENT GETREDIR"))
	require.Contains(t, c.Do("CLIENT INFO"), " flags=t ")
}

// TestTrackingOfEveryCommand: whatever command a client sends that tracks keys, of too few words, too, the proxy lives.
func TestTrackingOfEveryCommand(t *testing.T) {
	_, addr := startServer(t, Config{}, proxytest.NewCluster())
	for _, mode := range []string{"ON", "ON NOLOOP"} {
		for _, cmd := range command.Supported() {
			if cmd.Flags&command.FlagBlocking != 0 || cmd.Op == command.OpQuit || cmd.Op == command.OpMonitor || cmd.Op == command.OpWait || cmd.Op == command.OpHello || cmd.Flags&command.FlagPubSub != 0 {
				continue
			}
			for _, words := range []string{"", " a", " a b", " a b c", " 1 a b"} {
				c := proxytest.Dial(t, addr)
				require.Equal(t, "+OK\r\n", c.Do("CLIENT TRACKING "+mode))
				require.NotContains(t, c.Do(cmd.Name+words), "internal error", cmd.Name+words)
				c.Close()
			}
		}
	}
}

// TestTrackedKeysAreBounded: beyond as many keys as are tracked, a client is told to forget one of them.
func TestTrackedKeysAreBounded(t *testing.T) {
	service, addr := startServer(t, Config{}, proxytest.NewCluster())
	service.tracked.most = 2
	c := proxytest.Dial(t, addr)
	require.Contains(t, c.Do("HELLO 3"), "proto")
	require.Equal(t, "+OK\r\n", c.Do("CLIENT TRACKING ON"))
	require.Equal(t, "_\r\n", c.Do("GET a"))
	require.Equal(t, "_\r\n", c.Do("GET b"))
	c.Send("GET c")
	told := c.Reply()
	require.Contains(t, []string{">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\na\r\n", ">2\r\n$10\r\ninvalidate\r\n*1\r\n$1\r\nb\r\n"}, told)
	require.Equal(t, "_\r\n", c.Reply())
	require.Len(t, service.tracked.keys, 2)
}

// TestTrackingOfPrefixes: who asks for keys that begin in some way is told of them without reading them, of those of a transaction at once, and of nothing when he wants no more.
func TestTrackingOfPrefixes(t *testing.T) { proxytest.EachWay(t, testTrackingOfPrefixes) }

func testTrackingOfPrefixes(t *testing.T, w proxytest.Way) {
	service, addr := serve(t, w, Config{}, proxytest.NewCluster())
	reader, writer := proxytest.Dial(t, addr), proxytest.Dial(t, addr)
	require.Contains(t, reader.Do("HELLO 3"), "proto")
	says := func(c *proxytest.Client, line, reply string) { t.Helper(); require.Equal(t, reply, c.Do(line), line) }
	says(reader, "CLIENT TRACKING ON BCAST PREFIX foo PREFIX foobar", "-ERR Prefix 'foo' overlaps with another provided prefix 'foobar'. Prefixes for a single client must not overlap.\r\n")
	says(reader, "CLIENT TRACKING ON BCAST PREFIX foo PREFIX bar", "+OK\r\n")
	says(reader, "CLIENT TRACKING ON BCAST PREFIX fo", "-ERR Prefix 'fo' overlaps with an existing prefix 'foo'. Prefixes for a single client must not overlap.\r\n")
	says(reader, "CLIENT TRACKING ON", errorReply(errSwitchMode))
	says(reader, "CLIENT TRACKING ON BCAST PREFIX baz", "+OK\r\n")
	require.Equal(t, 3, service.broadcasts.count())
	says(writer, "SET other v", "+OK\r\n")
	says(writer, "SET bar1 v", "+OK\r\n")
	require.Equal(t, ">2\r\n$10\r\ninvalidate\r\n*1\r\n$4\r\nbar1\r\n", reader.Reply())
	says(writer, "MSET {t}x 1 foo2{t} 1 foo1{t} 1", "+OK\r\n")
	require.Equal(t, ">2\r\n$10\r\ninvalidate\r\n*2\r\n$7\r\nfoo1{t}\r\n$7\r\nfoo2{t}\r\n", reader.Reply())
	says(reader, "CLIENT TRACKING OFF", "+OK\r\n")
	require.Zero(t, service.broadcasts.count())
	says(writer, "SET foo v", "+OK\r\n")
	says(reader, "PING", "+PONG\r\n")
	says(reader, "CLIENT TRACKING ON BCAST", "+OK\r\n")
	says(writer, "SELECT 3", "+OK\r\n")
	says(writer, "SET k v", "+OK\r\n")
	require.Equal(t, invalidK, reader.Reply(), "of whatever database")
	reader.Close()
	require.Eventually(t, func() bool { return service.broadcasts.count() == 0 }, 5*time.Second, time.Millisecond)
}

// TestFlushedBroadcast: that anything may have changed is told as null.
func TestFlushedBroadcast(t *testing.T) {
	service, addr := serve(t, proxytest.ByFront, Config{}, proxytest.NewCluster())
	three, two, to := proxytest.Dial(t, addr), proxytest.Dial(t, addr), proxytest.Dial(t, addr)
	require.Contains(t, three.Do("HELLO 3"), "proto")
	id := strings.TrimSpace(to.Do("CLIENT ID")[1:])
	require.Contains(t, to.Do("SUBSCRIBE __redis__:invalidate"), "subscribe")
	require.Equal(t, "+OK\r\n", three.Do("CLIENT TRACKING ON BCAST"))
	require.Equal(t, "+OK\r\n", two.Do("CLIENT TRACKING ON BCAST REDIRECT "+id))
	service.broadcasts.told(service.broadcasts.prefixes[""], nil)
	require.Equal(t, ">2\r\n$10\r\ninvalidate\r\n_\r\n", three.Reply())
	require.Equal(t, "*3\r\n$7\r\nmessage\r\n$20\r\n__redis__:invalidate\r\n$-1\r\n", to.Reply())
}

// TestTrackedKeysAreForgotten: whoever deletes all keys has all clients forget what they have read, and whoever allows fewer keys some of it. Nobody is told of what he has kept in a mode that he has left.
func TestTrackedKeysAreForgotten(t *testing.T) {
	service, addr := startServer(t, Config{}, proxytest.NewCluster())
	c, other := proxytest.Dial(t, addr), proxytest.Dial(t, addr)
	require.Contains(t, c.Do("HELLO 3"), "proto")
	says := func(line, reply string) { t.Helper(); require.Equal(t, reply, c.Do(line), line) }
	counts := func(keys, items int) {
		t.Helper()
		k, i := service.tracked.count()
		require.Equal(t, [2]int{keys, items}, [2]int{k, i})
	}
	says("CLIENT TRACKING ON", "+OK\r\n")
	says("GET a", "_\r\n")
	says("GET b", "_\r\n")
	require.Equal(t, "+OK\r\n", other.Do("CLIENT TRACKING ON"))
	require.Equal(t, "$-1\r\n", other.Do("GET a"))
	counts(2, 3)
	require.Equal(t, "+OK\r\n", other.Do("FLUSHALL"))
	require.Equal(t, ">2\r\n$10\r\ninvalidate\r\n_\r\n", c.Reply())
	counts(0, 0)
	says("GET a", "_\r\n")
	says("GET b", "_\r\n")
	require.Equal(t, "+OK\r\n", other.Do("CONFIG SET tracking-table-max-keys 1"))
	require.Contains(t, c.Reply(), "invalidate")
	counts(1, 1)
	says("CLIENT TRACKING OFF", "+OK\r\n")
	says("CLIENT TRACKING ON BCAST PREFIX none", "+OK\r\n")
	require.Equal(t, "+OK\r\n", other.Do("SET a 1"))
	require.Equal(t, "+OK\r\n", other.Do("SET b 1"))
	require.Eventually(t, func() bool { keys, _ := service.tracked.count(); return keys == 0 }, 5*time.Second, time.Millisecond)
	says("PING", "+PONG\r\n")
}

// TestWhoHasQuitIsNotTold: a client to which others redirect is gone as soon as it has said QUIT, whenever it closes its connection.
func TestWhoHasQuitIsNotTold(t *testing.T) {
	_, addr := startServer(t, Config{}, proxytest.NewCluster())
	c, to, writer := proxytest.Dial(t, addr), proxytest.Dial(t, addr), proxytest.Dial(t, addr)
	require.Contains(t, c.Do("HELLO 3"), "proto")
	id := strings.TrimSpace(to.Do("CLIENT ID")[1:])
	require.Equal(t, "+OK\r\n", c.Do("CLIENT TRACKING ON REDIRECT "+id))
	require.Equal(t, "_\r\n", c.Do("GET k"))
	require.Equal(t, "+OK\r\n", to.Do("QUIT"))
	require.Equal(t, "+OK\r\n", writer.Do("SET k v"))
	require.Equal(t, ">2\r\n$21\r\ntracking-redir-broken\r\n:"+id+"\r\n", c.Reply())
	require.Contains(t, c.Do("CLIENT TRACKINGINFO"), "broken_redirect")
}
