//go:build unix

package differential

import (
	"os"
	"testing"

	"github.com/quolldb/quoll/e2e/cluster"
	"github.com/quolldb/quoll/internal/redistest"
)

func TestMain(m *testing.M) { os.Exit(cluster.Main(m)) }

// servers are the addresses of the two servers that are compared.
type servers struct{ redis, quoll string }

// startServers starts both for the length of the test, redis-server with what Quoll has: one
// database and no slow log. It skips the test where there is no redis-server 7.0.
func startServers(t *testing.T) servers {
	t.Helper()
	redis := redistest.Start(t, "--slowlog-log-slower-than", "-1", "--slowlog-max-len", "0",
		"--hash-max-listpack-entries", "100000", "--hash-max-listpack-value", "1000000") // fields in the order in which they came
	s := servers{redis: redis, quoll: cluster.FreeAddress(t)}
	dev := cluster.NewProcess(t, "quoll dev", "dev", "--listen", s.quoll, "--operation-timeout", "10s")
	dev.Start()
	dev.AwaitLog("Quoll runs")
	t.Cleanup(dev.Terminate) // in order, so that a binary that counts what it executes (E2E_BUILD_FLAGS=-cover) writes that
	return s
}
