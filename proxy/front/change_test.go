package front_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/proxy/front"
	"github.com/quolldb/quoll/proxy/proxytest"
)

// TestChangeOfIdleTimeout: what is changed is so for the clients that are there.
func TestChangeOfIdleTimeout(t *testing.T) { proxytest.EachWay(t, testChangeOfIdleTimeout) }

func testChangeOfIdleTimeout(t *testing.T, w proxytest.Way) {
	server, addr := serve(t, w, front.Config{}, proxytest.NewCluster())
	c := proxytest.Dial(t, addr)
	require.Equal(t, "+PONG\r\n", c.Do("PING"))
	server.Change(func(c *front.Config) { c.IdleTimeout = 20 * time.Millisecond })
	require.Equal(t, 20*time.Millisecond, server.Config().IdleTimeout)
	c.Send("PING") // whoever has a goroutine waits as long as it was told when it began
	require.Equal(t, "+PONG\r\n", c.Reply())
	_, err := c.In.ReadByte()
	require.Error(t, err)
}

// TestChangeOfMaxClients: the next client is one too many.
func TestChangeOfMaxClients(t *testing.T) {
	server, addr := serve(t, proxytest.ByFront, front.Config{}, proxytest.NewCluster())
	require.Equal(t, "+PONG\r\n", proxytest.Dial(t, addr).Do("PING"))
	server.Change(func(c *front.Config) { c.MaxClients = 1 })
	require.Equal(t, "-ERR max number of clients reached\r\n", proxytest.Dial(t, addr).Reply())
}
