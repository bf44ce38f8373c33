//go:build unix

package e2e

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
	"github.com/quolldb/quoll/e2e/outcome"
)

// TestRestartOfAllNodes: after an orderly stop, and after kill -9, every node comes back
// as who it was, with its ring and all of its data, by itself.
func TestRestartOfAllNodes(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("all nodes are stopped and started again")
	}
	for how, end := range map[string]func(*cluster.Cluster){"badger, in order": (*cluster.Cluster).TerminateAll, "badger, killed": (*cluster.Cluster).KillAll,
		"pebble, in order": (*cluster.Cluster).TerminateAll, "pebble, killed": (*cluster.Cluster).KillAll} {
		t.Run(how, func(t *testing.T) {
			engine, _, _ := strings.Cut(how, ",")
			c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1, Engine: engine})
			client := connect(t, c.Proxies[0].Client)
			const keys = 500
			for i := range keys {
				require.NoError(t, client.Set(t.Context(), fmt.Sprint("k:", i), i, 0).Err())
			}
			require.NoError(t, client.Set(t.Context(), "k:expires", "soon", time.Hour).Err())
			require.NoError(t, client.Del(t.Context(), "k:0").Err())
			born := generations(t, c)
			end(c)
			t.Logf("ready after %v", c.StartAll())
			require.Equal(t, born, generations(t, c))

			// The old value is what was there before the restart.
			old := served(t, func() (string, error) {
				return client.SetArgs(t.Context(), "k:1", "new", redis.SetArgs{Get: true}).Result()
			})
			require.Equal(t, "1", old)
			for i := 2; i < keys; i++ {
				require.Equal(t, fmt.Sprint(i), client.Get(t.Context(), fmt.Sprint("k:", i)).Val())
			}
			require.ErrorIs(t, client.Get(t.Context(), "k:0").Err(), redis.Nil)
			require.InDelta(t, time.Hour, client.TTL(t.Context(), "k:expires").Val(), float64(time.Minute))
			require.EqualValues(t, keys, client.DBSize(t.Context()).Val())
		})
	}
}

// TestRollingRestartUnderLoad: nodes that are restarted one after the other, each when the last one
// says that it is ready, cost nobody more than what was under way: two of three are always there.
func TestRollingRestartUnderLoad(t *testing.T) {
	if testing.Short() {
		t.Skip("it needs the machine for itself")
	}
	for signal, words := range map[syscall.Signal][]string{
		syscall.SIGTERM: nil,
		syscall.SIGKILL: {"UNKNOWN", "TRYAGAIN", "ERR"},
	} {
		t.Run(signal.String(), func(t *testing.T) {
			c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 2, Engine: "badger"})
			l := startLoad(t, c.Clients())
			l.progress(500)
			for range 2 {
				for _, m := range c.Nodes {
					m.Signal(signal)
					require.Contains(t, []int{0, -1}, m.ExitCode(10*time.Second)) // -1: by SIGKILL
					m.Start()
					m.AwaitReady()
					l.note("%s was restarted", m.Name)
				}
			}
			l.progress(500)
			l.stop()
			t.Logf("errors: %s", counts(l.words()))
			l.requireWords(words...)
			l.requireNothingLost(c.Proxies[0].Client)
		})
	}
}

// TestDataDirectoryIsTaken: a data directory that another process uses, or that is
// another node's, is refused in one line.
func TestDataDirectoryIsTaken(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1, Engine: "badger"})
	run := func(name, data string) string {
		_, stderr, code := cluster.Run(t, nil, "node", "--name", name, "--peer", cluster.FreeAddress(t), "--gossip", cluster.FreeAddress(t),
			"--admin", cluster.FreeAddress(t), "--initial-cluster", c.Initial, "--engine", "badger", "--data", data)
		require.Equal(t, 1, code, stderr)
		var complaints []string
		for line := range strings.Lines(stderr) {
			if strings.HasPrefix(line, "quoll: ") {
				complaints = append(complaints, line)
			}
		}
		require.Len(t, complaints, 1, stderr)
		return complaints[0]
	}
	require.Regexp(t, "in use|locked|another process", run("a", c.Nodes[0].Data))
	c.Nodes[0].Terminate()
	complaint := run("b", c.Nodes[0].Data)
	require.Contains(t, complaint, c.Nodes[0].Data)
	require.Contains(t, complaint, `node "a", not "b"`)
	c.Nodes[0].Start() // nobody has touched it
	c.Nodes[0].AwaitReady()
}

// TestMoreDataThanCache: a node serves more data than it may keep in memory, before and
// after it was killed.
func TestMoreDataThanCache(t *testing.T) {
	if testing.Short() {
		t.Skip("it writes a lot")
	}
	const batches, batch = 440, 500
	c := cluster.Start(t, cluster.Config{Nodes: 1, Proxies: 1, Engine: "badger", Fsync: "interval=100ms", Cache: "64MiB", Node: []string{"--replicas", "1"}})
	client := connect(t, c.Proxies[0].Client)
	began := time.Now()
	inParallel(t, batches, func(i int) error {
		pipe := client.Pipeline()
		for k := i * batch; k < (i+1)*batch; k++ {
			pipe.Set(t.Context(), fmt.Sprint("k:", k), valueOf(k), 0)
		}
		_, err := pipe.Exec(t.Context())
		return err
	})
	t.Logf("%d MiB of values written in %v", batches*batch*valueSize>>20, time.Since(began).Round(time.Millisecond))
	var refused atomic.Int64
	readSome := func(int) error {
		var asked [batch]int
		pipe := client.Pipeline()
		for i := range asked {
			asked[i] = rand.IntN(batches * batch)
			pipe.Get(t.Context(), fmt.Sprint("k:", asked[i]))
		}
		replies, err := pipe.Exec(t.Context())
		if outcome.Of(err) == outcome.NoEffect { // a node that has just started reads from the disk only
			refused.Add(1)
			return nil
		}
		for i, reply := range replies {
			value, _ := reply.(*redis.StringCmd).Bytes()
			if err == nil && !bytes.Equal(valueOf(asked[i]), value) {
				err = fmt.Errorf("k:%d holds %.40q", asked[i], value)
			}
		}
		return err
	}
	inParallel(t, 100, readSome)
	c.KillAll()
	t.Logf("ready after %v", c.StartAll())
	served(t, func() (string, error) { return client.Get(t.Context(), "k:0").Result() })
	inParallel(t, 100, readSome)
	require.EqualValues(t, batches*batch, served(t, func() (int64, error) { return client.DBSize(t.Context()).Result() }))
	require.Less(t, refused.Load(), int64(50), "of 200 pipelines")
	own, files := c.Nodes[0].Memory()
	t.Logf("the node has %d MiB of memory of its own and %d MiB of mapped files; %d of 200 pipelines were refused", own>>20, files>>20, refused.Load())
}

const valueSize = 1 << 10

// valueOf is the value of a key by its number. It cannot be compressed.
func valueOf(k int) []byte {
	value := make([]byte, valueSize)
	_, _ = rand.NewChaCha8([32]byte{byte(k), byte(k >> 8), byte(k >> 16)}).Read(value) // never fails
	return value
}

// inParallel does something n times, some of them at a time, each of which must succeed.
func inParallel(t *testing.T, n int, do func(i int) error) {
	t.Helper()
	var wait sync.WaitGroup
	errs := make([]error, n)
	slots := make(chan struct{}, 8)
	for i := range n {
		slots <- struct{}{}
		wait.Go(func() {
			errs[i] = do(i)
			<-slots
		})
	}
	wait.Wait()
	require.NoError(t, errors.Join(errs...))
}
