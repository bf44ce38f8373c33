package proxy

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/protocol"
)

// TestNothingButTheConnectionsOwnCommandsWhileLoading: a client that waits for PONG can use the cluster then.
func TestNothingButTheConnectionsOwnCommandsWhileLoading(t *testing.T) {
	eachWay(t, testNothingButTheConnectionsOwnCommandsWhileLoading)
}

func testNothingButTheConnectionsOwnCommandsWhileLoading(t *testing.T, w way) {
	cluster := newFakeCluster()
	cluster.loading = fmt.Errorf("%w (node b: connection refused)", ErrNotReady)
	_, addr := w.serve(t, ServerConfig{}, cluster)
	c := dial(t, addr)
	for _, command := range []string{"PING", "GET k", "SET k v", "MSET a 1 b 2", "DBSIZE", "SCAN 0", "FLUSHALL", "CLIENT KILL 1.2.3.4:5", "MULTI", "TIME"} {
		if command == "TIME" || command == "CLIENT KILL 1.2.3.4:5" { // as in Redis
			require.NotContains(t, c.do(command), "LOADING", command)
			continue
		}
		require.Equal(t, errorReply(cluster.loading), c.do(command), command)
	}
	require.Equal(t, "+OK\r\n", c.do("CLIENT SETNAME x"))
	require.Contains(t, c.do("HELLO 2"), "$6\r\nserver")
	require.Equal(t, "+OK\r\n", c.do("SELECT 0"))
	require.Contains(t, c.do("INFO persistence"), "loading:1\r\n")

	cluster.mu.Lock()
	cluster.loading = nil
	cluster.mu.Unlock()
	require.Equal(t, "+PONG\r\n", c.do("PING"))
	require.Equal(t, "+OK\r\n", c.do("SET k v"))
	require.Contains(t, c.do("INFO persistence"), "loading:0\r\n")
}

// TestLoadingSaysWhatItWaitsFor and ends when every slot has a majority; from then on it is the slots that have one or not.
func TestLoadingSaysWhatItWaitsFor(t *testing.T) {
	t.Parallel()
	f := startRing(t, 3)
	for _, n := range f.nodes {
		n.props.Store(&protocol.Properties{State: "forming"})
	}
	f.nodes[1].setDown(true)
	f.nodes[2].setDown(true)
	c := newCoordinator(t, patient, f.nodes[0].address(), f.nodes[1].address())
	eventually(t, func() bool {
		err := c.Loading()
		require.ErrorIs(t, err, ErrNotReady)
		text := err.Error()
		return strings.Contains(text, f.nodes[0].address()+": ") && strings.Contains(text, f.nodes[1].address()+": ")
	}, "it says whom it waits for")
	for _, n := range f.nodes {
		n.vote(f.cluster)
	}
	eventually(t, func() bool { return c.ring.Load() != nil }, "the ring is known")
	require.ErrorIs(t, c.Loading(), ErrNotReady, "one of three is no majority")
	f.nodes[1].setDown(false)
	f.awaitUp(c, 2)
	require.NoError(t, c.Loading())
	f.nodes[1].setDown(true)
	f.awaitUp(c, 1)
	require.NoError(t, c.Loading(), "it has been there")
}
