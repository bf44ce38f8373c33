package session

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/proxy/proxytest"
	"github.com/quolldb/quoll/proxy/route"
)

// TestNothingButTheConnectionsOwnCommandsWhileLoading: a client that waits for PONG can use the cluster then.
func TestNothingButTheConnectionsOwnCommandsWhileLoading(t *testing.T) {
	proxytest.EachWay(t, testNothingButTheConnectionsOwnCommandsWhileLoading)
}

func testNothingButTheConnectionsOwnCommandsWhileLoading(t *testing.T, w proxytest.Way) {
	cluster := proxytest.NewCluster()
	cluster.NotReady = fmt.Errorf("%w (node b: connection refused)", route.ErrNotReady)
	_, addr := serve(t, w, Config{}, cluster)
	c := proxytest.Dial(t, addr)
	for _, command := range []string{"PING", "GET k", "SET k v", "MSET a 1 b 2", "DBSIZE", "SCAN 0", "FLUSHALL", "CLIENT KILL 1.2.3.4:5", "TIME"} {
		if command == "TIME" || command == "CLIENT KILL 1.2.3.4:5" { // as in Redis
			require.NotContains(t, c.Do(command), "LOADING", command)
			continue
		}
		require.Equal(t, errorReply(cluster.NotReady), c.Do(command), command)
	}
	require.Equal(t, "+OK\r\n", c.Do("CLIENT SETNAME x"))
	require.Contains(t, c.Do("HELLO 2"), "$6\r\nserver")
	require.Equal(t, "+OK\r\n", c.Do("SELECT 0"))
	require.Contains(t, c.Do("INFO persistence"), "loading:1\r\n")

	require.Equal(t, "+OK\r\n", c.Do("MULTI"))
	require.Equal(t, errorReply(cluster.NotReady), c.Do("GET k"))
	require.Equal(t, errorReply(errExecAbort), c.Do("EXEC"))

	cluster.Lock()
	cluster.NotReady = nil
	cluster.Unlock()
	require.Equal(t, "+PONG\r\n", c.Do("PING"))
	require.Equal(t, "+OK\r\n", c.Do("SET k v"))
	require.Contains(t, c.Do("INFO persistence"), "loading:0\r\n")
}
