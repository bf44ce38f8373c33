//go:build unix

package differential

import (
	"net"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
)

func TestMain(m *testing.M) { os.Exit(cluster.Main(m)) }

// servers are the addresses of the two servers that are compared.
type servers struct{ redis, quoll string }

// startServers starts both for the length of the test. It skips the test where there is
// no redis-server 7.0.
func startServers(t *testing.T) servers {
	t.Helper()
	s := servers{redis: startRedis(t), quoll: cluster.FreeAddress(t)}
	dev := cluster.NewProcess(t, "quoll dev", "dev", "--listen", s.quoll, "--operation-timeout", "10s")
	dev.Start()
	dev.AwaitLog("Quoll runs")
	return s
}

// startRedis starts a redis-server that has what Quoll has: one database, no slow log, and
// nothing on disk.
func startRedis(t *testing.T) string {
	version, err := exec.Command("redis-server", "--version").Output()
	if err != nil || !strings.Contains(string(version), "v=7.0.") {
		t.Skip("redis-server 7.0 is not installed (apt-get install redis-server): Quoll is not compared with it")
	}
	address := cluster.FreeAddress(t)
	host, port, err := net.SplitHostPort(address)
	require.NoError(t, err)
	server := exec.Command("redis-server", "--bind", host, "--port", port, "--dir", t.TempDir(), "--save", "", "--appendonly", "no",
		"--databases", "1", "--slowlog-log-slower-than", "-1", "--slowlog-max-len", "0", "--loglevel", "warning")
	require.NoError(t, server.Start())
	t.Cleanup(func() {
		_ = server.Process.Kill()
		_ = server.Wait()
	})
	cluster.Await(t, "redis-server accepts connections", func() bool {
		conn, err := net.Dial("tcp", address)
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	})
	return address
}
