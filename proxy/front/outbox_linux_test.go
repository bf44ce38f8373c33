package front_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/proxy/front"
	"github.com/quolldb/quoll/proxy/proxytest"
)

// TestPushWhileSomebodyIsAboutToGo: a writer that finds the connection in use leaves it to the one who uses it, who may have looked already.
func TestPushWhileSomebodyIsAboutToGo(t *testing.T) {
	server, addr := serve(t, proxytest.ByFront, front.Config{}, proxytest.NewCluster())
	client, conn := dialed(t, server, addr)
	for range 20 {
		eventually(t, conn.Claim, "somebody else has it")
		require.True(t, conn.Push(message("late")))
		eventually(t, func() bool { return !conn.Called() }, "the writer does not come")
		require.True(t, conn.Release())
		require.Equal(t, string(message("late")), client.Reply())
	}
}

// TestPushesThatAreNotTaken wait, in the outbox and not in a copy, and stay before the replies of commands that come later. The others go on.
func TestPushesThatAreNotTaken(t *testing.T) {
	const count, size = 64, 1 << 20
	server, addr := serve(t, proxytest.ByFront, front.Config{}, proxytest.NewCluster())
	client, conn := dialed(t, server, addr)
	other, _ := dialed(t, server, addr)
	eventually(t, conn.Claim, "somebody else has it")
	conn.WithoutWriters()
	large := message(strings.Repeat("x", size))
	for range count {
		require.True(t, conn.Push(large))
	}
	client.Send("PING")
	_, all := conn.Waiting()
	require.True(t, conn.Release())
	eventually(t, func() bool { _, bytes := conn.Waiting(); return bytes < all }, "nothing is sent")
	require.Equal(t, "+PONG\r\n", other.Do("PING"))
	_, left := conn.Waiting()
	require.Greater(t, left, int64(count/2*size), "more than sockets hold")
	require.GreaterOrEqual(t, server.Held(), left)
	for range count {
		require.Equal(t, len(large), len(client.Reply()))
	}
	require.Equal(t, "+PONG\r\n", client.Reply())
	eventually(t, func() bool { return server.Held() == 0 }, "it is not given back")
}
