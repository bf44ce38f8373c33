package session

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/proxy/front"
	"github.com/quolldb/quoll/proxy/proxytest"
)

// serveStrangers serves with a password.
func serveStrangers(t *testing.T, w proxytest.Way, cfg front.Config) (*front.Server, string) {
	s := newServer(Config{Password: "secret"}, proxytest.NewCluster())
	s.Change(func(c *front.Config) { c.MaxClients, c.LoginTimeout = cfg.MaxClients, cfg.LoginTimeout })
	return s.Server, w.Serve(t, s, front.ErrServerClosed)
}

// TestWhoGivesNoPasswordIsTurnedOut after a while, also if he goes on sending; who has given it stays, also after RESET and giving it again.
func TestWhoGivesNoPasswordIsTurnedOut(t *testing.T) {
	proxytest.EachWay(t, func(t *testing.T, w proxytest.Way) {
		const limit = 100 * time.Millisecond
		server, addr := serveStrangers(t, w, front.Config{MaxClients: 10, LoginTimeout: limit})
		guest := proxytest.Dial(t, addr)
		for range 2 {
			require.Equal(t, "+OK\r\n", guest.Do("AUTH secret"))
			require.Equal(t, "+RESET\r\n", guest.Do("RESET"))
		}
		require.Equal(t, "+OK\r\n", guest.Do("AUTH secret"))

		silent, busy := proxytest.Dial(t, addr), proxytest.Dial(t, addr)
		began := time.Now()
		require.Empty(t, silent.Rest())
		require.GreaterOrEqual(t, time.Since(began), limit/2, "he had his time")
		for err := error(nil); err == nil; time.Sleep(time.Millisecond) { // until he is gone, or the test runs out of time
			_, err = busy.Write([]byte("PING\r\n"))
		}
		require.EqualValues(t, 2, server.Stats().TurnedOut.Load())
		require.Equal(t, "+PONG\r\n", guest.Do("PING"))
	})
}

// TestStrangersKeepNobodyOut: of ten connections five may be strangers', and the oldest makes room.
func TestStrangersKeepNobodyOut(t *testing.T) {
	proxytest.EachWay(t, func(t *testing.T, w proxytest.Way) {
		server, addr := serveStrangers(t, w, front.Config{MaxClients: 10})
		var strangers []*proxytest.Client
		for range 30 {
			s := proxytest.Dial(t, addr)
			require.Equal(t, "-NOAUTH Authentication required.\r\n", s.Do("PING"))
			strangers = append(strangers, s)
		}
		require.EqualValues(t, 25, server.Stats().TurnedOut.Load())
		for i, s := range strangers {
			if i < 25 {
				require.Empty(t, s.Rest())
			} else {
				require.Equal(t, "-NOAUTH Authentication required.\r\n", s.Do("PING"))
			}
		}
		for range 5 { // each pushes a stranger out first, and is none then
			require.Equal(t, "+OK\r\n", proxytest.Dial(t, addr).Do("AUTH secret"))
		}
		require.Zero(t, server.Stats().Rejected.Load())
	})
}

// TestWithoutAPasswordNobodyIsAStranger.
func TestWithoutAPasswordNobodyIsAStranger(t *testing.T) {
	s := newServer(Config{}, proxytest.NewCluster())
	s.Change(func(c *front.Config) { c.MaxClients, c.LoginTimeout = 10, 10*time.Millisecond })
	addr := proxytest.ByFront.Serve(t, s, front.ErrServerClosed)
	var clients []*proxytest.Client
	for range 10 {
		clients = append(clients, proxytest.Dial(t, addr))
	}
	time.Sleep(50 * time.Millisecond) // five times as long as a stranger has
	for _, c := range clients {
		require.Equal(t, "+PONG\r\n", c.Do("PING"))
	}
	require.Zero(t, s.Stats().TurnedOut.Load())
}
