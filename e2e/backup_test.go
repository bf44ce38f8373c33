//go:build unix

package e2e

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
)

// TestBackupAndRestore backs a node up while clients write, and makes a new cluster of it. What
// was acknowledged before the backup began is there, unless it was overwritten meanwhile; what was
// deleted, or flushed, is not; and what clients do from then on is linearizable.
func TestBackupAndRestore(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a while")
	}
	t.Parallel()
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 2, Engine: "badger", Fsync: "interval=100ms"})
	k := newKeysToRestore(t, connect(t, c.Proxies[0].Client))
	c.Nodes[2].Terminate() // as long as a replica does not have it, a deletion is kept
	k.delete(connect(t, c.Proxies[1].Client))
	awaitSame(t, c, 2)
	file := filepath.Join(t.TempDir(), "a.quoll")
	stop := k.overwrite(connect(t, c.Proxies[1].Client))
	stdout, stderr, code := cluster.Run(t, nil, "node", "backup", "--to", file, "--admin", c.Nodes[0].Admin, "--rate", "1MiB")
	overwritten := stop()
	c.Nodes[2].Start()
	require.Equal(t, 0, code, stderr)
	require.Empty(t, stdout)
	require.Regexp(t, "Backed up node a: 1[0-9]{4} records, [2-4][0-9]{3} of them deletions; ", stderr)
	require.Positive(t, overwritten, "nothing was written while the backup was made")
	info, err := os.Stat(file)
	require.NoError(t, err)
	t.Logf("%d bytes; %d keys overwritten meanwhile; %s", info.Size(), overwritten, stderr)
	stdout, stderr, code = cluster.Run(t, nil, "node", "backup", "--check", file)
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stdout, "Complete and undamaged: node a of cluster quoll, ")

	r := newRestored(t, 3, file)
	client := connect(t, r.Proxies[0].Client)
	k.check(client)
	l := startLoad(t, r.Clients())
	k.change(client)
	l.progress(2000)
	l.stop()
	l.requireWords("ERR")
	l.requireNothingLost(r.Proxies[0].Client)
	r.KillAll()
	r.StartAll()
	k.checkChanged(client)

	// One restored node alone is no member of the ring that the backup is of.
	victim := c.Nodes[1]
	victim.Terminate()
	require.NoError(t, os.RemoveAll(victim.Data))
	restoreNode(t, victim, file)
	victim.Start()
	victim.AwaitAlive()
	cluster.Await(t, "the others tell it that it is not who they know", func() bool {
		_, text := victim.Ready()
		return strings.Contains(text, "does not vote")
	})
	value := served(t, func() (string, error) { return connect(t, c.Proxies[1].Client).Get(t.Context(), "plain:0").Result() })
	require.Equal(t, "value 0", value)
}

// newRestored starts a new cluster whose nodes are restored from the same backups.
func newRestored(t *testing.T, nodes int, files ...string) *cluster.Cluster {
	t.Helper()
	c := cluster.New(t, cluster.Config{Nodes: nodes, Proxies: 1, Engine: "badger"})
	for _, m := range c.Nodes {
		restoreNode(t, m, files...)
		m.Start()
	}
	c.Proxies[0].Start()
	c.AwaitNodes()
	c.Proxies[0].AwaitReady()
	return c
}

func restoreNode(t *testing.T, m *cluster.Member, files ...string) {
	t.Helper()
	args := []string{"node", "restore", "--data", m.Data, "--name", m.Node}
	for _, file := range files {
		args = append(args, "--from", file)
	}
	_, stderr, code := cluster.Run(t, nil, args...)
	require.Equal(t, 0, code, stderr)
	require.Contains(t, stderr, "Restored ")
}

// awaitSame waits until each of the first nodes, which were never down, holds what the others of
// them hold.
func awaitSame(t *testing.T, c *cluster.Cluster, nodes int) {
	t.Helper()
	cluster.Await(t, "the nodes hold everything", func() bool {
		s, _ := ringStatus(t, c.Nodes[0].Admin)
		for _, n := range s.Nodes[1:nodes] {
			if n.Keys != s.Nodes[0].Keys || n.Bytes != s.Nodes[0].Bytes {
				return false
			}
		}
		return true
	})
}

// keysToRestore are keys of all sorts, and what is known of them.
type keysToRestore struct {
	t    *testing.T
	each int // keys of each sort
}

// newKeysToRestore writes 10,000 keys, and others that are gone afterwards.
func newKeysToRestore(t *testing.T, client *redis.Client) *keysToRestore {
	k := &keysToRestore{t: t, each: 2000}
	k.pipeline(client, func(pipe redis.Pipeliner, i int) { pipe.Set(t.Context(), k.key("flushed", i), i, 0) })
	require.NoError(t, client.FlushAll(t.Context()).Err())
	k.pipeline(client, func(pipe redis.Pipeliner, i int) {
		pipe.Set(t.Context(), k.key("plain", i), fmt.Sprint("value ", i), 0)
		pipe.Set(t.Context(), k.key("hot", i), "old", 0)
		pipe.Set(t.Context(), k.key("ttl", i), i, time.Hour)
		pipe.Set(t.Context(), k.key("deleted", i), i, 0)
		pipe.IncrBy(t.Context(), k.key("counter", i), int64(i))
		pipe.Append(t.Context(), k.key("appended", i), strings.Repeat("x", i%500))
		pipe.Set(t.Context(), k.key("expires", i), i, 3*time.Second)
	})
	k.pipeline(client, func(pipe redis.Pipeliner, i int) { pipe.Incr(t.Context(), k.key("counter", i)) })
	return k
}

// delete deletes some of them, though slots may be changing their homes.
func (k *keysToRestore) delete(client *redis.Client) {
	k.t.Helper()
	cluster.Await(k.t, "all of them are deleted", func() bool {
		pipe := client.Pipeline()
		for i := range k.each {
			pipe.Del(k.t.Context(), k.key("deleted", i))
		}
		_, err := pipe.Exec(k.t.Context())
		return err == nil
	})
}

func (k *keysToRestore) key(sort string, i int) string { return fmt.Sprint(sort, ":", i) }

// pipeline executes commands for every number, many at a time.
func (k *keysToRestore) pipeline(client *redis.Client, commands func(pipe redis.Pipeliner, i int)) []redis.Cmder {
	k.t.Helper()
	var replies []redis.Cmder
	for i := 0; i < k.each; {
		pipe := client.Pipeline()
		for end := i + 100; i < end; i++ {
			commands(pipe, i)
		}
		some, err := pipe.Exec(k.t.Context())
		if !errors.Is(err, redis.Nil) {
			require.NoError(k.t, err)
		}
		replies = append(replies, some...)
	}
	return replies
}

// overwrite writes to the hot keys, and to new ones, until stop is called, which returns
// how often.
func (k *keysToRestore) overwrite(client *redis.Client) (stop func() int64) {
	var stopping atomic.Bool
	var done sync.WaitGroup
	var n atomic.Int64
	done.Go(func() {
		for i := 0; !stopping.Load(); i++ {
			pipe := client.Pipeline()
			pipe.Set(k.t.Context(), k.key("hot", i%k.each), fmt.Sprint("new ", i), 0)
			pipe.Set(k.t.Context(), k.key("later", i), i, 0)
			if _, err := pipe.Exec(k.t.Context()); err == nil {
				n.Add(1)
			}
		}
	})
	return func() int64 {
		stopping.Store(true)
		done.Wait()
		return n.Load()
	}
}

// check reads everything back from a restored cluster.
func (k *keysToRestore) check(client *redis.Client) {
	k.t.Helper()
	newer := 0
	k.values(client, "plain", func(i int, value string) bool { return value == fmt.Sprint("value ", i) })
	k.values(client, "counter", func(i int, value string) bool { return value == strconv.Itoa(i+1) })
	k.values(client, "appended", func(i int, value string) bool { return value == strings.Repeat("x", i%500) })
	k.values(client, "ttl", func(i int, value string) bool { return value == strconv.Itoa(i) })
	k.values(client, "deleted", func(_ int, value string) bool { return value == nothing })
	k.values(client, "flushed", func(_ int, value string) bool { return value == nothing })
	k.values(client, "hot", func(i int, value string) bool {
		number, isNew := strings.CutPrefix(value, "new ")
		written, err := strconv.Atoi(number)
		if isNew {
			newer++
		}
		return value == "old" || isNew && err == nil && written%k.each == i
	})
	k.t.Logf("%d of %d keys that were overwritten meanwhile are restored as overwritten", newer, k.each)
	for _, reply := range k.pipeline(client, func(pipe redis.Pipeliner, i int) { pipe.TTL(k.t.Context(), k.key("ttl", i)) }) {
		require.InDelta(k.t, time.Hour, reply.(*redis.DurationCmd).Val(), float64(2*time.Minute))
	}
	cluster.Await(k.t, "what expires does so, though it was restored", func() bool {
		return client.Exists(k.t.Context(), k.key("expires", 0), k.key("expires", k.each-1)).Val() == 0
	})
	k.values(client, "expires", func(_ int, value string) bool { return value == nothing })
}

// nothing stands for a key that there is not.
const nothing = "(nil)"

func (k *keysToRestore) values(client *redis.Client, sort string, right func(i int, value string) bool) {
	k.t.Helper()
	for i, reply := range k.pipeline(client, func(pipe redis.Pipeliner, i int) { pipe.Get(k.t.Context(), k.key(sort, i)) }) {
		value, err := reply.(*redis.StringCmd).Result()
		if errors.Is(err, redis.Nil) {
			value, err = nothing, nil
		}
		require.NoError(k.t, err)
		if !right(i, value) {
			require.FailNow(k.t, "not what was written", "%s holds %q", k.key(sort, i), value)
		}
	}
}

// change does to restored keys what can be done to keys.
func (k *keysToRestore) change(client *redis.Client) {
	k.t.Helper()
	k.pipeline(client, func(pipe redis.Pipeliner, i int) {
		pipe.Incr(k.t.Context(), k.key("counter", i))
		pipe.Append(k.t.Context(), k.key("appended", i), "y")
		pipe.Set(k.t.Context(), k.key("deleted", i), "again", 0)
		pipe.Del(k.t.Context(), k.key("plain", i))
		pipe.Persist(k.t.Context(), k.key("ttl", i))
		pipe.PExpire(k.t.Context(), k.key("hot", i), time.Millisecond)
	})
}

func (k *keysToRestore) checkChanged(client *redis.Client) {
	k.t.Helper()
	served(k.t, func() (string, error) { return client.Get(k.t.Context(), k.key("counter", 0)).Result() })
	k.values(client, "counter", func(i int, value string) bool { return value == strconv.Itoa(i+2) })
	k.values(client, "appended", func(i int, value string) bool { return value == strings.Repeat("x", i%500)+"y" })
	k.values(client, "deleted", func(_ int, value string) bool { return value == "again" })
	k.values(client, "plain", func(_ int, value string) bool { return value == nothing })
	k.values(client, "hot", func(_ int, value string) bool { return value == nothing })
	k.values(client, "flushed", func(_ int, value string) bool { return value == nothing })
	for _, reply := range k.pipeline(client, func(pipe redis.Pipeliner, i int) { pipe.TTL(k.t.Context(), k.key("ttl", i)) }) {
		require.Equal(k.t, time.Duration(-1), reply.(*redis.DurationCmd).Val())
	}
}

// TestBackupsOfSeveralNodes: with more nodes than replicas none holds every key; together
// they do. The restored cluster has another number of nodes. It works with the engine memory, too.
func TestBackupsOfSeveralNodes(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Config{Nodes: 5, Proxies: 1, Node: []string{"--secret", "hush"}, Proxy: []string{"--secret", "hush"}})
	client := connect(t, c.Proxies[0].Client)
	for i := range 300 {
		require.NoError(t, client.Set(t.Context(), fmt.Sprint("k:", i), i, 0).Err())
	}
	var files []string
	for _, m := range c.Nodes {
		files = append(files, filepath.Join(t.TempDir(), m.Node))
		_, stderr, code := cluster.Run(t, []string{"QUOLL_SECRET=hush"}, "node", "backup", "--to", files[len(files)-1], "--admin", m.Admin)
		require.Equal(t, 0, code, stderr)
	}
	_, stderr, code := cluster.Run(t, nil, "node", "restore", "--from", files[0], "--data", filepath.Join(t.TempDir(), "x"), "--name", "x")
	require.Equal(t, 1, code)
	require.Regexp(t, "^quoll: nothing was restored: the backups do not have all slots, [0-9]+ of 16384 are missing .*\n$", stderr)

	r := newRestored(t, 3, files...)
	client = connect(t, r.Proxies[0].Client)
	for i := range 300 {
		require.Equal(t, strconv.Itoa(i), client.Get(t.Context(), fmt.Sprint("k:", i)).Val())
	}
	require.EqualValues(t, 300, client.DBSize(t.Context()).Val())
}

// TestBackupThatDoesNotWork: one line that says why, and no file, also when it is
// interrupted, or the node ends meanwhile.
func TestBackupThatDoesNotWork(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Config{Nodes: 1, Proxies: 1, Node: []string{"--replicas", "1", "--secret", "hush"}, Proxy: []string{"--secret", "hush"}})
	client := connect(t, c.Proxies[0].Client)
	for i := range 100 {
		require.NoError(t, client.Set(t.Context(), fmt.Sprint("k:", i), strings.Repeat("x", 10_000), 0).Err())
	}
	dir := t.TempDir()
	file := filepath.Join(dir, "b")
	for want, args := range map[string][]string{
		"no backup was made: the admin API asks for the cluster's secret at ":   {"--admin", c.Nodes[0].Admin, "--secret", "loud"},
		"no backup was made: cannot reach the admin API at ":                    {"--admin", cluster.FreeAddress(t)},
		" this process is no node and holds no data: give the admin address of": {"--admin", c.Proxies[0].Admin, "--secret", "hush"},
	} {
		_, stderr, code := cluster.Run(t, nil, append([]string{"node", "backup", "--to", file}, args...)...)
		require.Equal(t, 1, code)
		require.Contains(t, stderr, want)
		require.Equal(t, 1, strings.Count(stderr, "\n"), stderr)
	}
	slow := func(name string) *cluster.Process {
		p := cluster.NewProcess(t, name, "node", "backup", "--to", file, "--admin", c.Nodes[0].Admin, "--secret", "hush", "--rate", "10KiB")
		p.Start()
		cluster.Await(t, "the backup has begun", func() bool {
			info, err := os.Stat(file + ".tmp")
			return err == nil && info.Mode().Perm() == 0o600
		})
		return p
	}
	requireNone := func() {
		t.Helper()
		entries, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, entries)
	}
	interrupted := slow("interrupted backup")
	interrupted.Signal(syscall.SIGINT)
	require.Equal(t, 1, interrupted.ExitCode(5*time.Second))
	require.Contains(t, interrupted.Log(), "quoll: no backup was made: interrupted\n")
	requireNone()

	cluster.Await(t, "the node takes another one", func() bool {
		stdout, _, code := cluster.Run(t, []string{"QUOLL_SECRET=hush"}, "node", "backup", "--to", "-", "--admin", c.Nodes[0].Admin)
		return code == 0 && len(stdout) > 1_000_000
	})
	ended := slow("backup of a node that ends")
	began := time.Now()
	c.Nodes[0].Signal(syscall.SIGTERM)
	require.Equal(t, 0, c.Nodes[0].ExitCode(5*time.Second))
	require.Less(t, time.Since(began), 4*time.Second, "it does not wait for the backup")
	require.Equal(t, 1, ended.ExitCode(5*time.Second))
	require.Contains(t, ended.Log(), "quoll: no backup was made: ")
	requireNone()
}
