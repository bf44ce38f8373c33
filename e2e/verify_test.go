//go:build unix

package e2e

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
	"github.com/quolldb/quoll/internal/redistest"
)

// verified is what quoll verify prints.
type verified struct {
	Lost, Stale, Wrong, Unread, Left int
	Operations, Unknown, Readings    int64
	Histories                        int
	Transfers                        map[string]int
	Run                              string
}

// verifying runs quoll verify and, meanwhile, something that breaks what it verifies.
func verifying(t *testing.T, breaking func(), args ...string) (report verified, stdout string, code int) {
	t.Helper()
	var broken sync.WaitGroup
	var stderr string
	broken.Go(func() {
		stdout, stderr, code = cluster.Run(t, nil, append([]string{"verify", "--clients", "4", "-o", "json"}, args...)...)
	})
	breaking()
	broken.Wait()
	require.NoError(t, json.Unmarshal([]byte(stdout), &report), "%s%s", stdout, stderr)
	return report, stdout, code
}

// startTransfers moves amounts between accounts for a time, and returns what waits until all have been read back, wants nothing to be wrong, and says how many
// there were in each way.
func startTransfers(t *testing.T, c *cluster.Cluster, d time.Duration) (wait func() map[string]int) {
	var under sync.WaitGroup
	var report verified
	var text, errors string
	var code int
	under.Go(func() {
		text, errors, code = cluster.RunFor(t, d+5*time.Minute, nil, "verify", "--json", "--transfers", "--database", verifiedDatabase, "--clients", "4", "--for", max(d, time.Second).String(),
			"--addr", strings.Join(c.Clients(), ","))
	})
	awaitVerify(t, c.Proxies[0].Client)
	return func() map[string]int {
		under.Wait()
		require.Zero(t, code, "%s%s", text, errors)
		require.NoError(t, json.Unmarshal([]byte(text), &report), text)
		return report.Transfers
	}
}

// verifiedDatabase is where chaos and churn have quoll verify work, beside their own clients, who are in database 0.
const verifiedDatabase = "5"

// awaitVerify waits until quoll verify is under way, beside others: it does not begin where an address does not answer.
func awaitVerify(t *testing.T, address string) {
	client := connect(t, address)
	conn := client.Conn()
	defer conn.Close()
	cluster.Await(t, "quoll verify is under way", func() bool {
		if conn.Do(t.Context(), "SELECT", verifiedDatabase).Err() != nil {
			return false
		}
		keys, err := conn.Keys(t.Context(), "quoll-verify:*").Result()
		return err == nil && len(keys) > 10
	})
}

// awaitKeys waits until quoll verify is under way.
func awaitKeys(t *testing.T, address string) {
	client := connect(t, address)
	cluster.Await(t, "it is under way", func() bool {
		n, err := client.DBSize(t.Context()).Result()
		return err == nil && n > 40
	})
}

// TestVerifyWhileANodeIsKilledAndRestarted: nothing is lost, stale or wrong, and nothing stays behind.
func TestVerifyWhileANodeIsKilledAndRestarted(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("nodes are killed and started again")
	}
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 2, Engine: "badger"})
	report, text, code := verifying(t, func() {
		awaitKeys(t, c.Proxies[0].Client)
		c.Nodes[0].Kill()
		time.Sleep(2 * time.Second) // the fault itself
		c.Nodes[0].Start()
		c.Nodes[0].AwaitReady()
	}, "--for", "8s", "--addr", strings.Join(c.Clients(), ","))
	require.Zero(t, code, text)
	require.Positive(t, report.Operations)
	require.Positive(t, report.Histories)
	require.Zero(t, report.Lost+report.Stale+report.Wrong+report.Unread+report.Left, text)
	keys, err := connect(t, c.Proxies[0].Client).Keys(t.Context(), "quoll-verify:*").Result()
	require.NoError(t, err)
	require.LessOrEqual(t, int64(len(keys)), report.Unknown, "only what nobody knew the outcome of may come after it was removed")
}

// TestTransfersWhileANodeIsKilledAndRestarted: the totals of all accounts stay the same, whatever becomes of transactions.
func TestTransfersWhileANodeIsKilledAndRestarted(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("nodes are killed and started again")
	}
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 2, Engine: "badger"})
	report, text, code := verifying(t, func() {
		awaitKeys(t, c.Proxies[0].Client)
		c.Nodes[0].Kill()
		time.Sleep(2 * time.Second) // the fault itself
		c.Nodes[0].Start()
		c.Nodes[0].AwaitReady()
	}, "--for", "8s", "--transfers", "--addr", strings.Join(c.Clients(), ","))
	require.Zero(t, code, text)
	for _, way := range []string{"MULTI", "WATCH", "RENAME", "SMOVE", "LMOVE"} {
		require.Positive(t, report.Transfers[way], "%s: %s", way, text)
	}
	require.Positive(t, report.Readings)
	require.Zero(t, report.Lost+report.Stale+report.Wrong+report.Unread+report.Left, text)
}

func TestVerifyARedisServer(t *testing.T) {
	t.Parallel()
	address := redistest.Start(t)
	client := connect(t, address)
	require.NoError(t, client.Set(t.Context(), "mine", "1", 0).Err())
	report, text, code := verifying(t, func() {}, "--for", "2s", "--transfers", "--addr", address)
	require.Zero(t, code, text)
	require.Positive(t, report.Histories)
	require.Positive(t, report.Transfers["WATCH"])
	keys, err := client.Keys(t.Context(), "*").Result()
	require.NoError(t, err)
	require.Equal(t, []string{"mine"}, keys)
}

// TestVerifyFindsAServerThatForgets: a redis-server without a disk is killed and started again, empty.
func TestVerifyFindsAServerThatForgets(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it verifies for some seconds")
	}
	needs(t, "redis-server")
	host, port, err := net.SplitHostPort(cluster.FreeAddress(t))
	require.NoError(t, err)
	start := func() (kill func()) {
		server := exec.Command("redis-server", "--bind", host, "--port", port, "--dir", t.TempDir(), "--save", "", "--appendonly", "no")
		require.NoError(t, server.Start())
		kill = sync.OnceFunc(func() {
			_ = server.Process.Kill()
			_ = server.Wait()
		})
		t.Cleanup(kill)
		cluster.Await(t, "redis-server answers", func() bool { return connect(t, host+":"+port).Ping(t.Context()).Err() == nil })
		return kill
	}
	kill := start()
	report, text, code := verifying(t, func() {
		awaitKeys(t, host+":"+port)
		kill()
		start()
	}, "--for", "6s", "--addr", host+":"+port)
	require.Equal(t, 1, code, text)
	require.Positive(t, report.Lost, text)
	require.Contains(t, text, `"class": "lost"`)
}

// TestVerifyFindsWhatIsDoneToHashes: somebody else removes one field of a hash, or gives one of several that are written together the value that it had
// before: what a server does that loses a field, or that mixes two versions of a hash.
func TestVerifyFindsWhatIsDoneToHashes(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it verifies for some seconds")
	}
	address := redistest.Start(t)
	client := connect(t, address)
	for name, test := range map[string]struct {
		keys string
		harm func(key string, hash map[string]string) error
		want func(verified) int
		text string
	}{
		"a field is lost": {"quoll-verify:*:hash:*", func(key string, hash map[string]string) error {
			return client.HDel(t.Context(), key, slices.Collect(maps.Keys(hash))...).Err()
		}, func(r verified) int { return r.Lost }, "no address has it or a newer value: nothing"},
		"two versions are mixed": {"quoll-verify:*:row:*", func(key string, hash map[string]string) error {
			return client.HSet(t.Context(), key, "b", "1").Err()
		}, func(r verified) int { return r.Wrong }, "fields of different versions"},
	} {
		harmed := map[string]bool{} // which may take several looks: what was harmed is not whole any more at the next one
		report, text, code := verifying(t, func() {
			cluster.Await(t, "its hashes are written", func() bool {
				keys, err := client.Keys(t.Context(), test.keys).Result()
				require.NoError(t, err)
				for _, key := range keys {
					hash, err := client.HGetAll(t.Context(), key).Result()
					require.NoError(t, err)
					if len(hash) >= 4 && hash["b"] != "1" {
						require.NoError(t, test.harm(key, hash))
						harmed[key] = true
					}
				}
				return len(harmed) > 5 // some may be written before they are read
			})
		}, "--for", "5s", "--addr", address, "--keys", "400") // ten hashes of eight fields, and 80 rows
		require.Equal(t, 1, code, name)
		require.Positive(t, test.want(report), "%s: %s", name, text)
		require.Contains(t, text, test.text, name)
	}
}

// TestVerifyOfACache: a cluster that evicts loses nothing else, and what it evicts does not come back.
func TestVerifyOfACache(t *testing.T) {
	howLong := "8s"
	if testing.Short() {
		howLong = "3s"
	}
	_, client := evicting(t, "8MiB", "allkeys-random")
	ctx, cancel := context.WithCancel(t.Context())
	var fill sync.WaitGroup
	report, text, code := verifying(t, func() {
		awaitKeys(t, client.Options().Addr)
		for n := range 4 {
			fill.Go(func() {
				value := strings.Repeat("v", 1000)
				for i := 0; ctx.Err() == nil; i++ {
					client.Set(ctx, fmt.Sprint("fill", n, ":", i), value, 0) // errors are no matter here
				}
			})
		}
		cluster.Await(t, "keys are evicted", func() bool { return infoLine(t, client, "evicted_keys") != "0" })
	}, "--for", howLong, "--may-evict", "--addr", client.Options().Addr)
	cancel()
	fill.Wait()
	require.Zero(t, code, text)
	require.Zero(t, report.Lost+report.Stale+report.Wrong, text)
	require.Positive(t, report.Histories)
	t.Logf("%s keys were evicted, %d histories checked", infoLine(t, client, "evicted_keys"), report.Histories)

	_, stderr, code := cluster.Run(t, nil, "verify", "--may-evict", "--transfers", "--addr", client.Options().Addr)
	require.Equal(t, 2, code)
	require.Contains(t, stderr, "may-evict: goes neither with --transfers nor with --queue")
}

// TestVerifyRefusesWhatItCannotVerify, in one line.
func TestVerifyRefusesWhatItCannotVerify(t *testing.T) {
	t.Parallel()
	guarded := redistest.Start(t, "--requirepass", "sesame")
	without := redistest.Start(t, "--rename-command", "WATCH", "")
	wrong := filepath.Join(t.TempDir(), "password")
	require.NoError(t, os.WriteFile(wrong, []byte("guess\n"), 0o600))
	stranger, err := net.Listen("tcp", "127.0.0.1:0") // that says something else than a Redis server would
	require.NoError(t, err)
	t.Cleanup(func() { _ = stranger.Close() })
	go func() {
		for conn, err := stranger.Accept(); err == nil; conn, err = stranger.Accept() {
			_, _ = conn.Write([]byte("SSH-2.0-OpenSSH_9.2\r\n"))
		}
	}()
	for want, args := range map[string][]string{
		guarded + " wants a password":             {"--addr", guarded},
		guarded + " does not take the password":   {"--addr", guarded, "--password-file", wrong},
		without + " refuses a write: ERR unknown": {"--transfers", "--addr", without},
		stranger.Addr().String() + " is not a Re": {"--addr", stranger.Addr().String()},
	} {
		stdout, stderr, code := cluster.Run(t, nil, append([]string{"verify", "--for", "1s"}, args...)...)
		require.Equal(t, 2, code, stderr)
		require.Empty(t, stdout)
		require.Contains(t, stderr, "quoll: addr: "+want)
		require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
	}
}
