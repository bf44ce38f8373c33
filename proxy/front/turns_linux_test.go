package front_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/proxy/front"
	"github.com/quolldb/quoll/proxy/proxytest"
)

// TestLargeCommandsAreReadInTurns: while all turns are taken nobody else reads what is large, and everybody what is not.
func TestLargeCommandsAreReadInTurns(t *testing.T) {
	server, addr := startServer(t, front.Config{}, proxytest.NewCluster())
	small, large := proxytest.Dial(t, addr), proxytest.Dial(t, addr)
	turns := server.BulkTurns()
	for range cap(turns) {
		turns <- struct{}{}
	}
	_, err := large.Write(append(append([]byte("*2\r\n$4\r\nECHO\r\n$1048576\r\n"), make([]byte, 1<<20)...), "\r\n"...))
	require.NoError(t, err)
	const pings = 200
	for range pings {
		require.Equal(t, "+PONG\r\n", small.Do("PING"))
	}
	require.EqualValues(t, pings, server.Sessions().Commands.Load(), "the large one waits")
	<-turns
	require.Len(t, large.Reply(), len("$1048576\r\n")+1<<20+len("\r\n"))
}
