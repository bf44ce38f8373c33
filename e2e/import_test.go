//go:build unix

package e2e

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
	"github.com/quolldb/quoll/internal/redistest"
)

// imported is what quoll import and quoll export print.
type imported struct {
	Keys, Copied, Same, Existing, Unsupported, Elsewhere, Refused int
	Resumed                                                       bool
	Verified                                                      struct{ Compared, Differ, Changed int }
	Examples                                                      []struct{ Key, Why string }
}

// TestImport brings the keys of a Redis into a cluster, from the server, by an import that is killed halfway and goes on, and from its file; and out again into another Redis. All three
// have the same keys then.
func TestImport(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	address := redistest.Start(t, "--dir", dir)
	redis := connect(t, address)
	keys, elements, rate := 20_000, 100_000, "500KiB"
	if testing.Short() {
		keys, elements, rate = 5_000, 20_000, "150KiB"
	}
	fillRedis(t, redis, keys, elements)
	want := contentsOf(t, redis)
	_, quoll := startDev(t, patient)
	client := connect(t, quoll)
	from := []string{"import", "--from", "redis://" + address, "--addr", quoll}

	state := filepath.Join(dir, "state")
	// A page of SCAN may be of some MiB, and is behind it in seconds at this rate; all of it takes most of a minute.
	slow := cluster.NewProcess(t, "import", append(from, "--state", state, "--rate", rate, "--connections", "2")...)
	slow.Start()
	cluster.Await(t, "it is under way", func() bool {
		text, err := os.ReadFile(state)
		return err == nil && len(text) > 0 && strings.Contains(string(text), `"position":"`) && !strings.Contains(string(text), `"position":""`)
	})
	slow.Kill()
	require.Less(t, int(client.DBSize(t.Context()).Val()), len(want), "it was killed halfway")
	report := importing(t, 0, append(from, "--state", state)...)
	require.True(t, report.Resumed)
	require.Equal(t, len(want), report.Keys)
	require.Equal(t, len(want), report.Copied+report.Same)
	require.Zero(t, report.Verified.Differ+report.Verified.Changed)
	requireContents(t, want, client)

	require.NoError(t, redis.FunctionLoad(t.Context(), functionLib("greeting", "redis.register_function('greet', function() return 'hello' end)")).Err())
	require.NoError(t, redis.Save(t.Context()).Err())
	require.NoError(t, client.Set(t.Context(), "key:0", "another value", 0).Err())
	file := []string{"import", "--rdb", filepath.Join(dir, "dump.rdb"), "--addr", quoll}
	report = importing(t, 3, file...)
	require.Equal(t, len(want)-1, report.Same)
	require.Equal(t, 1, report.Existing)
	require.Equal(t, "key:0", report.Examples[0].Key)
	require.Equal(t, "hello", client.FCall(t.Context(), "greet", nil).Val())
	report = importing(t, 0, append(file, "--replace")...)
	require.Equal(t, len(want), report.Copied)
	require.Positive(t, report.Verified.Compared)
	requireContents(t, want, client)

	other := redistest.Start(t)
	report = importing(t, 0, "export", "--to", "redis://"+other, "--addr", quoll)
	require.Equal(t, len(want), report.Copied)
	requireContents(t, want, connect(t, other))
	require.Equal(t, "hello", connect(t, other).FCall(t.Context(), "greet", nil).Val())

	require.NoError(t, redis.XAdd(t.Context(), newStream()).Err())
	require.NoError(t, client.FlushAll(t.Context()).Err())
	report = importing(t, 0, from...)
	require.Equal(t, len(want)+1, report.Copied)
	require.Zero(t, report.Unsupported)
	require.EqualValues(t, 1, client.XLen(t.Context(), "stream").Val())
}

func newStream() *redis.XAddArgs {
	return &redis.XAddArgs{Stream: "stream", Values: []string{"f", "v"}}
}

// TestImportWhileANodeIsKilled: writes whose outcome nobody knows are sent again, and every key arrives.
func TestImportWhileANodeIsKilled(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a while")
	}
	t.Parallel()
	address := redistest.Start(t)
	redis := connect(t, address)
	fillRedis(t, redis, 20_000, 1000)
	want := contentsOf(t, redis)
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 2, Engine: "badger"})
	client := connect(t, c.Proxies[0].Client)
	var broken sync.WaitGroup
	broken.Go(func() {
		cluster.Await(t, "keys arrive", func() bool { return client.DBSize(t.Context()).Val() > 1000 })
		c.Nodes[0].Kill()
		c.Nodes[0].Start()
	})
	report := importing(t, 0, "import", "--from", "redis://"+address, "--addr", strings.Join(c.Clients(), ","), "--rate", "300KiB")
	broken.Wait()
	require.Equal(t, len(want), report.Copied+report.Same)
	require.Zero(t, report.Verified.Differ)
	requireContents(t, want, client)
}

// importing runs a command line to its end.
func importing(t *testing.T, want int, args ...string) (report imported) {
	t.Helper()
	stdout, stderr, code := cluster.Run(t, nil, append(args, "--json")...)
	require.Equal(t, want, code, "%s%s", stdout, stderr)
	require.NoError(t, json.Unmarshal([]byte(stdout), &report), stdout)
	return report
}

// fillRedis gives a Redis keys of every type (redistest.Mixed).
func fillRedis(t *testing.T, client *redis.Client, keys, elements int) {
	pipe := client.Pipeline()
	for _, args := range redistest.Mixed(keys, elements) {
		pipe.Do(t.Context(), args...)
	}
	_, err := pipe.Exec(t.Context())
	require.NoError(t, err)
}

// contentsOf returns what a server has, as its commands show it: what is read is not what import reads.
func contentsOf(t *testing.T, client *redis.Client) map[string]any {
	ctx := t.Context()
	all := map[string]any{}
	for iter := client.Scan(ctx, 0, "", 10_000).Iterator(); iter.Next(ctx); {
		all[iter.Val()] = nil
	}
	reads, expiries := map[string]redis.Cmder{}, map[string]*redis.Cmd{}
	types := map[string]*redis.StatusCmd{}
	pipe := client.Pipeline()
	for key := range all {
		types[key] = pipe.Type(ctx, key)
	}
	_, err := pipe.Exec(ctx)
	require.NoError(t, err)
	for key := range all {
		expiries[key] = pipe.Do(ctx, "PEXPIRETIME", key)
		switch types[key].Val() {
		case "string":
			reads[key] = pipe.Get(ctx, key)
		case "list":
			reads[key] = pipe.LRange(ctx, key, 0, -1)
		case "set":
			reads[key] = pipe.SMembersMap(ctx, key)
		case "zset":
			reads[key] = pipe.ZRangeWithScores(ctx, key, 0, -1)
		case "hash":
			reads[key] = pipe.HGetAll(ctx, key)
		}
	}
	_, err = pipe.Exec(ctx)
	require.NoError(t, err)
	for key := range all {
		var value any
		switch read := reads[key].(type) {
		case *redis.StringCmd:
			value = read.Val()
		case *redis.StringSliceCmd:
			value = read.Val()
		case *redis.StringStructMapCmd:
			value = read.Val()
		case *redis.ZSliceCmd:
			value = read.Val()
		case *redis.MapStringStringCmd:
			value = read.Val()
		}
		all[key] = []any{value, expiries[key].Val()}
	}
	return all
}

// requireContents demands that a server has this and nothing else. It names the first key only that differs: all of them are too many to read.
func requireContents(t *testing.T, want map[string]any, client *redis.Client) {
	t.Helper()
	have := contentsOf(t, client)
	if maps.EqualFunc(want, have, func(a, b any) bool { return fmt.Sprint(a) == fmt.Sprint(b) }) {
		return
	}
	for key := range want {
		require.Equal(t, want[key], have[key], "%q", key)
	}
	require.Len(t, have, len(want))
}
