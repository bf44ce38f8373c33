package session

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/proxy/proxytest"
	"github.com/quolldb/quoll/proxy/route"
)

// TestWhoWaitsReadsAtTheHome: a client is told of an entry before it is chosen, and once. A quorum that does not know of it yet must not be asked.
func TestWhoWaitsReadsAtTheHome(t *testing.T) {
	const entry = "*1\r\n*2\r\n$1\r\ns\r\n*0\r\n"
	cluster := proxytest.NewCluster()
	written := false
	cluster.Intercept = func(op *route.Op) bool { // as if every replica but one had yet to hear of what is written
		switch op.Req.Op {
		case command.OpXReadKey:
			if op.Outcome, op.Reply = answer.Done, []byte("*-1\r\n"); op.Write && written {
				op.Reply = []byte(entry)
			}
			return true
		case command.OpSet:
			written = true
		}
		return false
	}
	_, addr := startServer(t, Config{}, cluster)
	reader, writer := proxytest.Dial(t, addr), proxytest.Dial(t, addr)
	reader.Send("XREAD BLOCK 0 STREAMS s 0")
	require.Eventually(t, func() bool { return strings.Contains(writer.Do("INFO clients"), "blocked_clients:1\r\n") }, 5*time.Second, time.Millisecond)
	require.Equal(t, "+OK\r\n", writer.Do("SET s x"))
	require.Equal(t, entry, reader.Reply())
}
