package session

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/proxy/proxytest"
)

// awaitBlocked waits until so many clients wait.
func awaitBlocked(t *testing.T, service *Service, n int64) {
	require.Eventually(t, func() bool { return service.look.pause.waiting.Load() == n }, 10*time.Second, time.Millisecond)
}

// TestPauseOfWrites: what reads goes on, what writes waits, in its turn.
func TestPauseOfWrites(t *testing.T) { proxytest.EachWay(t, testPauseOfWrites) }

func testPauseOfWrites(t *testing.T, w proxytest.Way) {
	service, addr := serve(t, w, Config{}, proxytest.NewCluster())
	a, b, c := proxytest.Dial(t, addr), proxytest.Dial(t, addr), proxytest.Dial(t, addr)
	require.Equal(t, "+OK\r\n", a.Do("CLIENT PAUSE 100000 WRITE"))
	require.Equal(t, "$-1\r\n", a.Do("GET a"))
	require.Equal(t, "-ERR wrong number of arguments for 'set' command\r\n", a.Do("SET a"))
	for _, line := range []string{"MULTI", "GET a", "PING", "EXEC"} {
		a.Do(line)
	}
	b.Send("GET a", "SET a x", "GET a")
	require.Equal(t, "$-1\r\n", b.Reply(), "it is answered at once")
	awaitBlocked(t, service, 1)
	c.Send("PFCOUNT h")
	awaitBlocked(t, service, 2)
	require.Contains(t, a.Do("INFO clients"), "blocked_clients:2\r\n")
	require.Equal(t, 2, strings.Count(a.Do("CLIENT LIST"), "flags=b "))
	require.Equal(t, "+OK\r\n", a.Do("CLIENT UNPAUSE"))
	require.Equal(t, "+OK\r\n", b.Reply())
	require.Equal(t, "$1\r\nx\r\n", b.Reply())
	c.Reply()
	awaitBlocked(t, service, 0)
}

// TestPauseOfAll ends by itself, and neither a shorter nor a weaker one makes it shorter.
func TestPauseOfAll(t *testing.T) { proxytest.EachWay(t, testPauseOfAll) }

func testPauseOfAll(t *testing.T, w proxytest.Way) {
	service, addr := serve(t, w, Config{}, proxytest.NewCluster())
	a, b := proxytest.Dial(t, addr), proxytest.Dial(t, addr)
	begun := time.Now()
	for _, line := range []string{"MULTI", "CLIENT PAUSE 300", "CLIENT PAUSE 1 WRITE", "EXEC"} {
		a.Do(line)
	}
	a.Send("PING")
	b.Send("ECHO x")
	awaitBlocked(t, service, 2)
	require.Equal(t, "+PONG\r\n", a.Reply())
	require.Equal(t, "$1\r\nx\r\n", b.Reply())
	require.GreaterOrEqual(t, time.Since(begun), 300*time.Millisecond)
	require.Nil(t, service.look.pause.now.Load())
}

// TestWhoIsPausedCanBeKilled, and nothing that it has sent is executed then.
func TestWhoIsPausedCanBeKilled(t *testing.T) { proxytest.EachWay(t, testWhoIsPausedCanBeKilled) }

func testWhoIsPausedCanBeKilled(t *testing.T, w proxytest.Way) {
	service, addr := serve(t, w, Config{}, proxytest.NewCluster())
	a, b := proxytest.Dial(t, addr), proxytest.Dial(t, addr)
	a.Do("CLIENT PAUSE 1000000 WRITE")
	b.Send("SET a x")
	awaitBlocked(t, service, 1)
	require.Equal(t, ":1\r\n", a.Do("CLIENT KILL TYPE normal"))
	awaitBlocked(t, service, 0)
	a.Do("CLIENT UNPAUSE")
	require.Equal(t, "$-1\r\n", a.Do("GET a"))
}

// TestPausedClientsDoNotKeepTheServerUp: the end of the test waits for them.
func TestPausedClientsDoNotKeepTheServerUp(t *testing.T) {
	proxytest.EachWay(t, func(t *testing.T, w proxytest.Way) {
		service, addr := serve(t, w, Config{}, proxytest.NewCluster())
		a := proxytest.Dial(t, addr)
		a.Do("CLIENT PAUSE 100000000")
		a.Send("PING")
		awaitBlocked(t, service, 1)
	})
}
