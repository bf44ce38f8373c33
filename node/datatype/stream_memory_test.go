//go:build !race

package datatype

import (
	"fmt"
	"runtime"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
)

// replicaOf returns what a replica has of a stream of so many entries of a load, and how many bytes of deltas it got.
func replicaOf(t *testing.T, n int, fields func(i int) []string) (replica record.State, deltas int) {
	var home record.State
	for i := range n {
		reply, eff := Execute(nil, home, addRequest(i, fields(i)), 1)
		require.Equal(t, byte('$'), reply[0])
		if home = eff.Whole().Keep(); eff.Kind != record.Changed {
			replica = home.Packed().Keep()
			continue
		}
		next, err := Apply(replica, eff.Delta)
		require.NoError(t, err)
		replica = next
		deltas += len(eff.Delta)
	}
	require.Equal(t, n, streamIn(home).length())
	return replica, deltas
}

// heap returns how many bytes are in use on it.
func heap() float64 {
	var stats runtime.MemStats
	runtime.GC()
	runtime.ReadMemStats(&stats)
	return float64(stats.HeapAlloc)
}

// TestMemoryOfStreams: an entry takes less than one and a half times as much on a replica as in Redis, which gets deltas of about what the entry has.
func TestMemoryOfStreams(t *testing.T) {
	const n = 30_000
	for _, load := range streamLoads {
		t.Run(load.name, func(t *testing.T) {
			before := heap()
			replica, deltas := replicaOf(t, n, load.fields)
			each := (heap() - before) / n
			t.Logf("%.1f bytes an entry, %.2f times Redis'; packed %.1f, delta %.1f", each, each/load.redis, float64(replica.Size())/n, float64(deltas)/n)
			require.Less(t, each, 1.5*load.redis)
			require.Less(t, float64(deltas)/n, 1.5*load.redis)
			runtime.KeepAlive(replica)
		})
	}
}

// TestMemoryOfPendingEntries: what was read by a group, and is not acknowledged, takes less than in Redis.
func TestMemoryOfPendingEntries(t *testing.T) {
	const n, redis = 30_000, 170 // bytes of a redis-server 7.0.15 (used_memory) for each of as many, read by four consumers, ten at a time
	replica, _ := replicaOf(t, n, streamLoads[0].fields)
	execute := func(op command.Op, args ...string) {
		req := &command.Request{Op: op}
		for _, arg := range args {
			req.Args = append(req.Args, []byte(arg))
		}
		reply, eff := Execute(nil, replica, req, 1_800_000_000_000)
		require.NotEqual(t, byte('-'), reply[0], "%s", reply)
		if eff.Kind == record.Replaced {
			replica = eff.State.Keep()
			return
		}
		require.Equal(t, record.Changed, eff.Kind)
		next, err := Apply(replica, eff.Delta)
		require.NoError(t, err)
		replica = next
	}
	execute(command.OpXGroupKey, "xgroup", "k", "create", "g", "0")
	before := heap()
	for i := range n / 10 {
		execute(command.OpXReadGroupKey, "xreadgroup", "k", ">", "group", "g", fmt.Sprint("c", i%4), "count", "10")
	}
	each := (heap() - before) / n
	t.Logf("%.1f bytes for each that is pending, %.2f times Redis'", each, each/redis)
	require.Less(t, each, float64(redis))
	runtime.KeepAlive(replica)
}
