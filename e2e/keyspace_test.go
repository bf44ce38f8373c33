//go:build unix

package e2e

import (
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
)

// place has the keys of a database placed, and returns what was said, and the exit code.
func place(t *testing.T, c *cluster.Cluster, number int, placement string) (said string, code int) {
	stdout, stderr, code := cluster.Run(t, nil, "ring", "keyspace", "set", fmt.Sprint(number), "placement="+placement, "--admin", c.Nodes[0].Admin)
	return stdout + stderr, code
}

func placed(t *testing.T, c *cluster.Cluster, number int, placement string) {
	t.Helper()
	said, code := place(t, c, number, placement)
	require.Zero(t, code, said)
}

func inDatabase(t *testing.T, address string, number int) *redis.Client {
	client := redis.NewClient(&redis.Options{Addr: address, DB: number, MaxRetries: -1, DisableIdentity: true})
	t.Cleanup(func() { client.Close() })
	return client
}

// TestAKeyspaceThatIsTogether: commands on any keys of such a database are one write, also after its home has died and while nodes restart.
func TestAKeyspaceThatIsTogether(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("nodes are killed and started again")
	}
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 2, Engine: "badger"})
	placed(t, c, 1, "together")
	ctx := t.Context()
	one, other := inDatabase(t, c.Proxies[0].Client, 1), inDatabase(t, c.Proxies[1].Client, 1)
	cluster.Await(t, "the proxies hear of it", func() bool { return one.Exists(ctx, "x").Err() == nil && other.Exists(ctx, "x").Err() == nil })
	require.Equal(t, map[string]string{"together": "1"}, func() map[string]string {
		list, code := cluster.RunJSON[[]struct {
			Database  int
			Placement string
		}](t, "ring", "keyspace", "-o", "json", "--admin", c.Nodes[1].Admin)
		require.Zero(t, code)
		found := map[string]string{}
		for _, k := range list {
			if k.Placement != "spread" {
				found[k.Placement] += fmt.Sprint(k.Database)
			}
		}
		return found
	}())
	const accounts, total = 10, 1000
	for i := range accounts {
		require.NoError(t, one.Set(ctx, fmt.Sprint("account:", i), total/accounts, 0).Err())
	}
	move := func(client *redis.Client, from, to int) error {
		_, err := client.TxPipelined(ctx, func(pipe redis.Pipeliner) error {
			pipe.DecrBy(ctx, fmt.Sprint("account:", from), 1)
			pipe.IncrBy(ctx, fmt.Sprint("account:", to), 1)
			return nil
		})
		return err
	}
	sum := redis.NewScript("local sum = 0 for i = 0, ARGV[1] - 1 do sum = sum + redis.call('GET', 'account:' .. i) end return sum") // keys that it has not named
	var moved atomic.Int64
	var stop atomic.Bool
	var wait sync.WaitGroup
	for w, client := range []*redis.Client{one, other} {
		wait.Go(func() {
			for i := 0; !stop.Load(); i++ {
				if move(client, i%accounts, (i*7+w+1)%accounts) == nil {
					moved.Add(1)
				}
				if n, err := sum.Run(ctx, client, nil, accounts).Int(); err == nil && n != total {
					t.Errorf("the accounts have %d", n)
					return
				}
			}
		})
	}
	progress := func() {
		before := moved.Load()
		cluster.Await(t, "transfers", func() bool { return moved.Load() > before+20 })
	}
	progress()
	for _, node := range c.Nodes {
		node.Kill()
		progress()
		node.Start()
		c.AwaitNodes()
	}
	progress()
	stop.Store(true)
	wait.Wait()
	c.TerminateAll()
	c.StartAll()
	n, err := sum.Run(ctx, one, nil, accounts).Int()
	require.NoError(t, err)
	require.Equal(t, total, n, "it is so after a restart of all")
	require.NoError(t, one.Rename(ctx, "account:0", "elsewhere").Err())
	require.EqualValues(t, accounts, other.DBSize(ctx).Val())
	placed(t, c, 0, "together") // of which names are longer then
	zero := connect(t, c.Proxies[0].Client)
	cluster.Await(t, "the proxy hears of it", func() bool { return zero.Exists(ctx, "list").Err() == nil })
	require.EqualValues(t, 3, zero.Eval(ctx, "redis.call('RPUSH', 'list', 3, 1, 2) return redis.call('LLEN', 'list')", nil).Val(), "a script that names no keys")
	require.NoError(t, zero.MSet(ctx, "weight:1", 5, "weight:2", 9, "weight:3", 7).Err())
	require.Equal(t, []string{"5", "7", "9"}, zero.Sort(ctx, "list", &redis.Sort{By: "weight:*", Get: []string{"weight:*"}}).Val())
	require.EqualValues(t, 3, zero.SortStore(ctx, "list", "sorted", &redis.Sort{By: "weight:*", Order: "DESC"}).Val())
	require.Equal(t, []string{"2", "3", "1"}, zero.LRange(ctx, "sorted", 0, -1).Val())
	said, code := place(t, c, 1, "spread")
	require.NotZero(t, code)
	require.Contains(t, said, "database 1 has keys")
}

// TestNothingIsLostWhileAPlacementChanges: whoever was told OK reads what he has written, whichever proxy he asks, or is told to try again.
func TestNothingIsLostWhileAPlacementChanges(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it writes for some seconds")
	}
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 2})
	ctx := t.Context()
	var written, refused atomic.Int64
	var stop atomic.Bool
	var wait sync.WaitGroup
	for w := range 2 {
		clients := []*redis.Client{inDatabase(t, c.Proxies[w%2].Client, 5), inDatabase(t, c.Proxies[1-w%2].Client, 5)}
		key := fmt.Sprint("key:", w)
		tried := func(err error) bool { // it was done, or nothing was
			if err == nil {
				return true
			}
			if !strings.HasPrefix(err.Error(), "TRYAGAIN") {
				t.Errorf("%v", err)
			}
			refused.Add(1)
			return false
		}
		wait.Go(func() {
			for i := 0; !stop.Load(); i++ {
				if !tried(clients[0].Set(ctx, key, i, 0).Err()) {
					continue
				}
				got, err := clients[1].Get(ctx, key).Int()
				if errors.Is(err, redis.Nil) || err == nil && got != i {
					t.Errorf("%s was %d, and is %d, %v", key, i, got, err)
					return
				}
				tried(err)
				for !tried(clients[1].Del(ctx, key).Err()) {
				}
				for range 8 { // so that there is a moment without keys
					if n, err := clients[0].Exists(ctx, key).Result(); tried(err) && n != 0 {
						t.Errorf("%s is there again", key)
						return
					}
				}
				written.Add(1)
			}
		})
	}
	changed := 0
	placement := map[bool]string{false: "spread", true: "together"}
	for together := true; changed < 6; {
		before := written.Load()
		said, code := place(t, c, 5, placement[together])
		if code == 0 {
			changed, together = changed+1, !together
		} else {
			require.Contains(t, said, "database 5")
		}
		cluster.Await(t, "writes", func() bool { return written.Load() > before })
	}
	stop.Store(true)
	wait.Wait()
	t.Logf("%d writes, %d refusals", written.Load(), refused.Load())
}
