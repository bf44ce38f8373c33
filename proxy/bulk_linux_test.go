package proxy

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/proxy/proxytest"
)

// TestLargeCommandsAreReadInTurns: while all turns are taken nobody else reads what is large, and everybody what is not.
func TestLargeCommandsAreReadInTurns(t *testing.T) {
	server, addr := startServer(t, ServerConfig{}, proxytest.NewCluster())
	small, large := proxytest.Dial(t, addr), proxytest.Dial(t, addr)
	turns := server.bulk.turns
	for range cap(turns) {
		turns <- struct{}{}
	}
	_, err := large.Write(append(append([]byte("*2\r\n$4\r\nECHO\r\n$1048576\r\n"), make([]byte, 1<<20)...), "\r\n"...))
	require.NoError(t, err)
	const pings = 200
	for range pings {
		require.Equal(t, "+PONG\r\n", small.Do("PING"))
	}
	require.EqualValues(t, pings, server.Stats().Commands.Load(), "the large one waits")
	<-turns
	require.Len(t, large.Reply(), len("$1048576\r\n")+1<<20+len("\r\n"))
}

// TestWhoReadsMuchRests, if others are served meanwhile.
func TestWhoReadsMuchRests(t *testing.T) {
	b := newBulkReads()
	b.turns <- struct{}{}
	r := &rests{bulk: b}
	require.False(t, r.rest(), "nobody else is there")
	b.served.Add(1)
	require.True(t, r.rest())
	require.False(t, r.rest(), "nobody since then")
}

// TestWhoReadsWithoutEndLetsOthersHaveTheTurn, who have waited for it.
func TestWhoReadsWithoutEndLetsOthersHaveTheTurn(t *testing.T) {
	b := newBulkReads()
	for range cap(b.turns) {
		b.turns <- struct{}{}
	}
	had := make(chan struct{})
	go func() {
		b.turns <- struct{}{}
		close(had)
		<-b.turns
	}()
	for r := (&rests{bulk: b}); ; r.rest() {
		select {
		case <-had:
			return
		default:
		}
	}
}
