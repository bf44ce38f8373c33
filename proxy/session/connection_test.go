package session

import (
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/loginlimit"
	"github.com/quolldb/quoll/proxy/proxytest"
	"github.com/quolldb/quoll/proxy/route"
)

func TestAuthentication(t *testing.T) { proxytest.EachWay(t, testAuthentication) }

func testAuthentication(t *testing.T, w proxytest.Way) {
	_, addr := serve(t, w, Config{Password: "secret"}, proxytest.NewCluster())
	c := proxytest.Dial(t, addr)
	const noAuth, wrong = "-NOAUTH Authentication required.\r\n", "-WRONGPASS invalid username-password pair or user is disabled.\r\n"
	require.Equal(t, noAuth, c.Do("GET a"))
	require.Equal(t, noAuth, c.Do("PING"))
	require.Equal(t, wrong, c.Do("AUTH wrong"))
	require.Equal(t, wrong, c.Do("AUTH other secret"))
	require.Contains(t, c.Do("HELLO 3"), "-NOAUTH HELLO must be called with the client already authenticated")
	require.Equal(t, wrong, c.Do("HELLO 3 AUTH default wrong"))
	require.Equal(t, "%7\r\n", c.Do("HELLO 3 AUTH default secret SETNAME me")[:4])
	require.Equal(t, "$2\r\nme\r\n", c.Do("CLIENT GETNAME"))
	require.Equal(t, "+RESET\r\n", c.Do("RESET"))
	require.Equal(t, noAuth, c.Do("GET a"))
	c.Send("AUTH secret", "GET a")
	require.Equal(t, "+OK\r\n", c.Reply())
	require.Equal(t, "$-1\r\n", c.Reply())

	for packet, want := range map[string]string{
		"*11\r\n":                        "unauthenticated multibulk length",
		"*2\r\n$20000\r\nx":              "unauthenticated bulk length",
		"*2\r\n$4\r\nAUTH\r\n$99999\r\n": "unauthenticated bulk length",
	} {
		c := proxytest.Dial(t, addr)
		_, err := c.Write([]byte(packet))
		require.NoError(t, err)
		require.Equal(t, "-ERR Protocol error: "+want+"\r\n", c.Rest())
	}
	require.Equal(t, "+OK\r\n", proxytest.Dial(t, addr).Do("QUIT"))
}

// TestPasswordsAreGuessedSlowly: one address gets tries for a moment, and not 26,000 a second.
func TestPasswordsAreGuessedSlowly(t *testing.T) { proxytest.EachWay(t, testPasswordsAreGuessedSlowly) }

func testPasswordsAreGuessedSlowly(t *testing.T, w proxytest.Way) {
	server, addr := serve(t, w, Config{Password: "secret"}, proxytest.NewCluster())
	c := proxytest.Dial(t, addr)
	began := time.Now()
	tries := 0
	for range 500 {
		switch reply := c.Do("AUTH guess"); {
		case strings.HasPrefix(reply, "-WRONGPASS "):
			tries++
		default:
			require.Contains(t, reply, "-ERR too many wrong passwords came from this address")
		}
	}
	most := loginlimit.Burst + int(time.Since(began)/loginlimit.Every) + 1
	require.LessOrEqual(t, tries, most)
	require.EqualValues(t, tries, server.Stats().Passwords.Wrong.Load())
	require.EqualValues(t, 500-tries, server.Stats().Passwords.Refused.Load())
}

func TestClientListAndKill(t *testing.T) { proxytest.EachWay(t, testClientListAndKill) }

func testClientListAndKill(t *testing.T, w proxytest.Way) {
	_, addr := serve(t, w, Config{}, proxytest.NewCluster())
	a := proxytest.Dial(t, addr)
	a.Do("CLIENT SETNAME first")
	a.Do("HELLO 3")
	b := proxytest.Dial(t, addr) // with TLS they would have their numbers in the order in which the handshakes end
	b.Do("CLIENT SETINFO LIB-NAME redis-py")
	b.Do("GET x")
	list := a.Do("CLIENT LIST")
	require.Regexp(t, `^=\d+\r\ntxt:id=1 addr=127.0.0.1:\d+ laddr=127.0.0.1:\d+ fd=-1 name=first age=0 idle=0 flags=N .* multi=-1 qbuf=26 qbuf-free=0 argv-mem=10 .*cmd=client\|list user=default redir=-1 resp=3 lib-name= lib-ver= watch=0`+
		`\nid=2 .* qbuf=0 .*cmd=get .*resp=2 lib-name=redis-py lib-ver= watch=0\n\r\n$`, list)
	require.NotContains(t, a.Do("CLIENT LIST ID 2"), "id=1")
	require.Equal(t, "=4\r\ntxt:\r\n", a.Do("CLIENT LIST TYPE replica"))

	require.Equal(t, "-ERR No such client\r\n", a.Do(`CLIENT KILL ""`), "it killed everybody")
	require.Equal(t, ":0\r\n", a.Do(`CLIENT KILL ADDR "" SKIPME no`), "it killed everybody")
	require.Equal(t, ":0\r\n", a.Do("CLIENT KILL ID 2 ADDR 1.2.3.4:5"))
	require.Equal(t, ":1\r\n", a.Do("CLIENT KILL ID 2 TYPE normal USER default"))
	_, err := b.In.ReadByte()
	require.Error(t, err)
	require.Equal(t, "+OK\r\n", a.Do("CLIENT KILL "+a.LocalAddr().String()))
	require.Empty(t, a.Rest())
}

// TestAKilledClientIsGone: at once, as in Redis, also if it is in the middle of something.
func TestAKilledClientIsGone(t *testing.T) {
	proxytest.EachWay(t, func(t *testing.T, w proxytest.Way) {
		cluster := proxytest.NewCluster()
		reading, goOn := make(chan struct{}), make(chan struct{})
		cluster.Before = func(b *route.Batch) {
			if b.Ops[0].Req.Op == command.OpGet {
				close(reading)
				<-goOn
			}
		}
		_, addr := serve(t, w, Config{}, cluster)
		t.Cleanup(sync.OnceFunc(func() { close(goOn) }))
		victim, other := proxytest.Dial(t, addr), proxytest.Dial(t, addr)
		victim.Send("GET k")
		<-reading
		require.Equal(t, ":1\r\n", other.Do("CLIENT KILL TYPE normal"))
		require.Equal(t, ":0\r\n", other.Do("CLIENT KILL TYPE normal"))
		require.Equal(t, 1, strings.Count(other.Do("CLIENT LIST"), "cmd="))
	})
}
