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

// TestOneNodesClockIsAnHourAhead: nothing depends on the clock of one node. It says that it is wrong, and
// what it leads expires by the time that the others agree on.
func TestOneNodesClockIsAnHourAhead(t *testing.T) {
	t.Parallel()
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 2, Faults: true})
	client, wrong, right := connect(t, c.Proxies[0].Client), c.Nodes[0], c.Nodes[1]
	const each, ttl = 20, 5 * time.Minute
	keys := append(homedAt(t, c, client, wrong, 2*each), homedAt(t, c, client, right, each)...)
	set := func(keys []string) {
		for _, key := range keys {
			require.NoError(t, client.Set(t.Context(), key, "v", ttl).Err())
		}
	}
	holds := func() {
		t.Helper()
		for _, proxy := range c.Clients() {
			for _, key := range keys {
				got, err := connect(t, proxy).Get(t.Context(), key).Result()
				require.NoError(t, err, "%s through %s", key, proxy)
				require.Equal(t, "v", got)
			}
		}
		requireExpiring(t, client, keys, ttl)
	}
	says := func(wrong string) {
		cluster.Await(t, "ring status knows the clocks", func() bool {
			stdout, _, code := cluster.Run(t, c.Proxies[1].Env, "ring", "status", "--admin", c.Proxies[1].Admin)
			return strings.Contains(stdout, wrong) && (wrong != "") == (code != 0)
		})
	}
	set(keys[each:])
	c.Clock(wrong, time.Hour)
	says("the clock of node a is wrong by 1h0m0s")
	set(keys[:each])
	holds()
	c.Clock(wrong, -time.Hour)
	says("the clock of node a is wrong by -1h0m0s")
	holds()
	c.Heal()
	says("")
	holds()
}

// requireExpiring demands that keys expire within most from now.
func requireExpiring(t *testing.T, client *redis.Client, keys []string, most time.Duration) {
	for _, key := range keys {
		left, err := client.TTL(t.Context(), key).Result()
		require.NoError(t, err)
		require.True(t, left > 0 && left <= most, fmt.Sprint(key, " expires in ", left))
	}
}
