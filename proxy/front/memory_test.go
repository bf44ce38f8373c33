package front_test

import (
	"bytes"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/proxy/front"
	"github.com/quolldb/quoll/proxy/proxytest"
)

// TestHalfSentCommandsAreBounded: many clients send a part of something large, and never the rest. Those with the most go.
func TestHalfSentCommandsAreBounded(t *testing.T) {
	proxytest.EachWay(t, testHalfSentCommandsAreBounded)
}

func testHalfSentCommandsAreBounded(t *testing.T, w proxytest.Way) {
	const limit = 16 << 20
	server, addr := serve(t, w, front.Config{ClientMemory: limit}, proxytest.NewCluster())
	good := proxytest.Dial(t, addr)
	require.Equal(t, "+PONG\r\n", good.Do("PING"))
	half := append([]byte("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$67108864\r\n"), make([]byte, 1<<20)...)
	for range 60 {
		_, _ = proxytest.Dial(t, addr).Write(half) // it may be the one that has to go
	}
	require.Eventually(t, func() bool { return server.Stats().Evicted.Load() > 30 && server.Held() <= limit }, time.Minute, time.Millisecond)
	require.Equal(t, "+PONG\r\n", good.Do("PING"), "who holds nothing is left alone")

	// What goes on is not disconnected, and gives back what it took.
	value := bytes.Repeat([]byte("x"), 1<<19) // it never has the most
	c := proxytest.Dial(t, addr)
	for range 20 {
		_, err := c.Write(append(append([]byte("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$524288\r\n"), value...), "\r\n"...))
		require.NoError(t, err)
		require.Equal(t, "+OK\r\n", c.Reply())
	}
}

// TestWhatIsHeldIsGivenBack: when all clients have gone nothing counts any more, however they went.
func TestWhatIsHeldIsGivenBack(t *testing.T) { proxytest.EachWay(t, testWhatIsHeldIsGivenBack) }

func testWhatIsHeldIsGivenBack(t *testing.T, w proxytest.Way) {
	server, addr := serve(t, w, front.Config{ClientMemory: 4 << 20}, proxytest.NewCluster())
	half := append([]byte("*2\r\n$4\r\nECHO\r\n$4000000\r\n"), make([]byte, 1<<20)...)
	var all []*proxytest.Client
	for range 20 {
		c := proxytest.Dial(t, addr)
		_, _ = c.Write(half) // whoever has most is disconnected, in the middle of it, too
		all = append(all, c)
	}
	require.Eventually(t, func() bool { return server.Stats().Evicted.Load() > 10 }, time.Minute, time.Millisecond)
	for _, c := range all {
		_ = c.Close()
	}
	require.Eventually(t, func() bool { return server.Stats().Clients.Load() == 0 }, time.Minute, time.Millisecond)
	require.Zero(t, server.Held())
}
