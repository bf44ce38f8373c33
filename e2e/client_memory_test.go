//go:build unix

package e2e

import (
	"errors"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
)

// TestHalfSentCommandsTakeNoMemory: hundreds of clients send two of the 64 MiB that they announce, three times. The proxy holds
// what it may and no more, nobody else notices, and a moment later the memory is the system's again. No other test here runs beside it:
// it takes all that two processors can do.
func TestHalfSentCommandsTakeNoMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("it waits for memory to be given back, which may take half a minute")
	}
	const limit = 256 << 20
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1, Proxy: []string{"--client-memory", "256MiB", "--memory", "1GiB"}})
	proxy := c.Proxies[0]
	before, _ := proxy.Memory()
	if before == 0 {
		t.Skip("this system does not show the memory of processes")
	}
	l := startLoad(t, c.Clients())
	l.progress(200)
	half := append([]byte("*3\r\n$3\r\nSET\r\n$1\r\nk\r\n$67108864\r\n"), make([]byte, 2<<20)...)
	for range 3 {
		var conns []net.Conn
		for range 400 {
			conn, err := net.Dial("tcp", proxy.Client)
			require.NoError(t, err)
			conns = append(conns, conn)
			require.NoError(t, conn.SetWriteDeadline(time.Now().Add(20*time.Second)))
			_, err = conn.Write(half) // it may be hung up on
			require.False(t, errors.Is(err, net.ErrClosed))
		}
		l.progress(200)
		took, _ := proxy.Memory()
		t.Logf("%d MiB before, %d MiB with 400 halves", before>>20, took>>20)
		require.Less(t, took-before, int64(4*limit+256<<20), "what was let go is garbage for a moment; it was 5.4 GB once")
		for _, conn := range conns {
			_ = conn.Close()
		}
	}
	l.stop()
	// A home may change hands meanwhile, since all share the processors. What that does to a pipeline is in docs/guarantees.md.
	failures := slices.DeleteFunc(l.failures, func(f failure) bool {
		return strings.Contains(f.err.Error(), "could not be executed before a later one")
	})
	require.Empty(t, failures, "other clients notice nothing")
	l.requireNothingLost(proxy.Client)
	gone := time.Now()
	for after, _ := proxy.Memory(); after-before > 100<<20; after, _ = proxy.Memory() {
		require.Less(t, time.Since(gone), 2*time.Minute, "%d MiB are still held", after>>20)
		time.Sleep(100 * time.Millisecond) // nothing tells when the system has it
	}
	t.Logf("given back after %s", time.Since(gone).Round(time.Second))
}
