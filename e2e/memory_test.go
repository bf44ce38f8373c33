//go:build unix

package e2e

import (
	"fmt"
	"strings"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
)

// memoryMost is what a process may have of the system's memory that is given so many bytes.
func memoryMost(memory int64) int64 { return memory + memory/5 + 256<<20 }

// watchMemory returns what tells the most that a process has had.
func watchMemory(t *testing.T, p *cluster.Process) (most func() int64) {
	if own, _ := p.Memory(); own == 0 {
		t.Skip("this system does not show the memory of processes")
	}
	stop, peak := make(chan struct{}), make(chan int64)
	go func() {
		most := int64(0)
		ticker := time.NewTicker(50 * time.Millisecond)
		defer ticker.Stop()
		for {
			select {
			case <-stop:
				peak <- most
				return
			case <-ticker.C:
				own, files := p.Memory()
				most = max(most, own+files)
			}
		}
	}()
	return func() int64 { close(stop); return <-peak }
}

// awaitMemory waits until a process has given memory back but for so many bytes of its own.
func awaitMemory(t *testing.T, p *cluster.Process, least int64) {
	t.Helper()
	began := time.Now()
	for own, files := p.Memory(); own > least; own, files = p.Memory() {
		require.Less(t, time.Since(began), time.Minute, "%d MiB are still held, and %d of files", own>>20, files>>20)
		time.Sleep(100 * time.Millisecond) // nothing tells when the system has it
	}
}

// TestMemoryOfANodeOnDisk: a node keeps within its --memory while much more than its cache is written as fast as it takes it, its mapped files
// included, and gives it back when there is nothing to do.
func TestMemoryOfANodeOnDisk(t *testing.T) {
	if testing.Short() {
		t.Skip("writes hundreds of megabytes: -short was given")
	}
	const memory = 384 << 20
	c := cluster.Start(t, cluster.Config{Nodes: 1, Proxies: 1, Engine: "badger", Cache: "64MiB", Node: []string{"--replicas", "1", "--memory", "384MiB"}})
	most := watchMemory(t, c.Nodes[0].Process)
	for part := range 8 {
		_, stderr, code := cluster.Run(t, nil, "bench", "--addr", c.Proxies[0].Client, "--workload", "load", "--prefix", fmt.Sprint(part), "--keys", "50000", "--value-size", "1024", "--depth", "16")
		require.Zero(t, code, stderr)
	}
	peak := most()
	t.Logf("at most %d MiB", peak>>20)
	require.LessOrEqual(t, peak, memoryMost(memory), "it was 1,000 MiB once, and 2,900 with four times as much")
	awaitMemory(t, c.Nodes[0].Process, 256<<20)
}

// TestMemoryOfANodeInMemory: a node whose data reach their part of --memory refuses more, and lives; what is deleted is the system's again.
func TestMemoryOfANodeInMemory(t *testing.T) {
	if testing.Short() {
		t.Skip("writes hundreds of megabytes: -short was given")
	}
	const memory = 256 << 20
	c := cluster.Start(t, cluster.Config{Nodes: 1, Proxies: 1, Node: []string{"--replicas", "1", "--memory", "256MiB"}})
	node := c.Nodes[0].Process
	before, _ := node.Memory()
	most := watchMemory(t, node)
	stdout, stderr, code := cluster.Run(t, nil, "bench", "--addr", c.Proxies[0].Client, "--workload", "load", "--keys", "1200000", "--value-size", "200", "--depth", "64")
	require.Equal(t, 1, code, "there is no room for all of it: %s%s", stdout, stderr)
	peak := most()
	t.Logf("%d MiB, and at most %d", before>>20, peak>>20)
	require.LessOrEqual(t, peak, memoryMost(memory))

	client := redis.NewClient(&redis.Options{Addr: c.Proxies[0].Client, MaxRetries: -1, ReadTimeout: time.Minute})
	defer client.Close()
	err := client.Set(t.Context(), "another", strings.Repeat("v", 200), 0).Err()
	require.ErrorContains(t, err, "OOM command not allowed when used memory > 'maxmemory'.")
	require.NoError(t, client.Get(t.Context(), "key:000000000001").Err())
	keys, err := client.DBSize(t.Context()).Result()
	require.NoError(t, err)
	require.Greater(t, keys, int64(300_000))
	require.NoError(t, client.Del(t.Context(), "key:000000000001").Err())
	require.NoError(t, client.FlushAll(t.Context()).Err())
	awaitMemory(t, node, before+128<<20)
	require.Eventually(t, func() bool { return client.Set(t.Context(), "another", "v", 0).Err() == nil }, 10*time.Second, 100*time.Millisecond)
}
