//go:build unix

package differential

import (
	"bufio"
	"flag"
	"fmt"
	"net"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
	"github.com/quolldb/quoll/internal/redistest"
)

// TestMain takes what is drawn from $TEST_SEED, if there is one and no -rapid.seed, so that a commit is checked in the same way each time.
func TestMain(m *testing.M) {
	flag.Parse()
	if seed := os.Getenv("TEST_SEED"); seed != "" && flag.Lookup("rapid.seed").Value.String() == "0" {
		if err := flag.Set("rapid.seed", seed); err != nil {
			fmt.Fprintln(os.Stderr, "TEST_SEED:", err)
			os.Exit(1)
		}
	}
	os.Exit(cluster.Main(m))
}

// servers are the addresses of the two servers that are compared.
type servers struct{ redis, quoll string }

// startServers starts both for the length of the test, both without a slow log, in which is what was slow on one of them. It skips the test where there is no redis-server 7.0.
func startServers(t *testing.T) servers {
	t.Helper()
	redis := redistest.Start(t, "--slowlog-log-slower-than", "-1", "--slowlog-max-len", "0",
		"--hash-max-listpack-entries", "100000", "--hash-max-listpack-value", "1000000") // fields in the order in which they came
	s := servers{redis: redis, quoll: cluster.FreeAddress(t)}
	dev := cluster.NewProcess(t, "quoll dev", "dev", "--listen", s.quoll, "--operation-timeout", "10s")
	dev.Start()
	dev.AwaitLog("Quoll runs")
	quiet(t, s.quoll)
	t.Cleanup(dev.Terminate) // in order, so that a binary that counts what it executes (E2E_BUILD_FLAGS=-cover) writes that
	return s
}

// quiet has a proxy keep no slow log.
func quiet(t *testing.T, address string) {
	conn, err := net.Dial("tcp", address)
	require.NoError(t, err)
	defer conn.Close()
	_, err = conn.Write([]byte("CONFIG SET slowlog-log-slower-than -1 slowlog-max-len 0\r\n"))
	require.NoError(t, err)
	line, err := bufio.NewReader(conn).ReadString('\n')
	require.NoError(t, err)
	require.Equal(t, "+OK\r\n", line)
}
