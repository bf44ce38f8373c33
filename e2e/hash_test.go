//go:build unix

package e2e

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
	"github.com/quolldb/quoll/e2e/outcome"
)

// TestHScanWhileHomesDie: a cursor of HSCAN is good at every node. A client goes through a hash, others set and remove fields of it, and
// in the middle its home dies and comes back, and the one that was home meanwhile dies. Every field that is there all the time is returned,
// none that never was.
func TestHScanWhileHomesDie(t *testing.T) {
	const staying, page, key = 3000, 100, "hash"
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 2, Engine: "badger", Faults: true}) // which tell where a key lives
	clients := []*redis.Client{connect(t, c.Proxies[0].Client), connect(t, c.Proxies[1].Client)}
	var pairs []any
	for i := range staying {
		pairs = append(pairs, fmt.Sprint("stays:", i), i)
	}
	require.NoError(t, clients[0].HSet(t.Context(), key, pairs...).Err())
	stopChurn := churnFields(t, clients[1], key)
	defer stopChurn()

	seen, cursor, killed := map[string]bool{}, uint64(0), []string(nil)
	for pages := 1; ; pages++ {
		var fields []string
		cluster.Await(t, "a page is answered", func() (answered bool) {
			var err error
			var next uint64
			fields, next, err = clients[pages%2].HScan(t.Context(), key, cursor, "", page).Result()
			if answered = outcome.Of(err) == outcome.Answered; answered {
				require.NoError(t, err)
				cursor = next
			}
			return answered
		})
		for i := 0; i < len(fields); i += 2 {
			require.True(t, strings.HasPrefix(fields[i], "stays:") || strings.HasPrefix(fields[i], "passes:"), fields[i])
			seen[fields[i]] = true
		}
		if cursor == 0 {
			require.Greater(t, pages, staying/page/2, "the hash was not scanned in pages")
			break
		}
		if pages%10 == 0 {
			killed = append(killed, killHome(t, c, key))
		}
	}
	t.Logf("killed in the middle: %v", killed)
	require.NotEmpty(t, killed)
	for i := range staying {
		require.True(t, seen[fmt.Sprint("stays:", i)], "stays:%d was there all the time and was not returned", i)
	}
}

// killHome kills the home of a key, waits until another node has taken its slot over, and starts the dead one again. It returns its name.
func killHome(t *testing.T, c *cluster.Cluster, key string) string {
	t.Helper()
	home, _ := c.Nodes[0].Locate(key)
	for i, m := range c.Nodes {
		if m.Node != home {
			continue
		}
		m.Kill()
		witness := c.Nodes[(i+1)%len(c.Nodes)]
		cluster.Await(t, "another home", func() bool {
			now, _ := witness.Locate(key)
			return now != "" && now != home
		})
		m.Start()
		m.AwaitReady()
		return home
	}
	t.Fatalf("no node is the home: %q", home)
	return ""
}

// churnFields sets and removes fields of a hash until stop is called.
func churnFields(t *testing.T, client *redis.Client, key string) (stop func()) {
	return repeatedly(func(i int) {
		pipe := client.Pipeline()
		pipe.HSet(t.Context(), key, fmt.Sprint("passes:", i%1000), i, fmt.Sprint("stays:", i%3000), i)
		pipe.HDel(t.Context(), key, fmt.Sprint("passes:", (i+500)%1000))
		_, err := pipe.Exec(t.Context()) // a home that is killed leaves errors, which do not matter here
		if redis.HasErrorPrefix(err, "WRONGTYPE") || errors.Is(err, redis.Nil) {
			t.Errorf("%s is not a hash any more: %v", key, err)
		}
	})
}
