//go:build unix

package e2e

import (
	"encoding/json"
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
	"github.com/quolldb/quoll/internal/artifact"
	"github.com/quolldb/quoll/internal/history"
	"github.com/quolldb/quoll/internal/redistest"
)

var (
	queueChaosFor  = flag.Duration("queue-chaos", 0, "how long TestQueueChaos breaks clusters; 0 for one short round")
	queueChaosSeed = flag.Uint64("queue-chaos-seed", 0, "its seed; 0 for another one each time")
)

// TestQueueChaos breaks clusters as TestChaos and TestChurn do, while clients produce and consume (quoll verify --queue): each element that was acknowledged is handed out once, in its
// order, or is still there; where an outcome is unknown that explains one.
// Clusters of an even seed keep their data on disk, so that any number of nodes may die. The ring of every other two changes all the time.
func TestQueueChaos(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a while")
	}
	d, seed := max(*queueChaosFor, 12*time.Second), *queueChaosSeed
	if seed == 0 {
		seed = uint64(rand.Uint32()) + 1
	}
	rounds := int((d + churnRound - 1) / churnRound)
	for i := range rounds {
		s := seed + uint64(i)
		if !t.Run(fmt.Sprint("seed ", s), func(t *testing.T) { queueChaosRound(t, s, d/time.Duration(rounds)) }) {
			t.Fatalf("round %d of %d failed; as far as real time can be repeated: make queue-chaos T=%v SEED=%d", i+1, rounds, d/time.Duration(rounds), s)
		}
	}
}

// queueChaosRound breaks one cluster.
func queueChaosRound(t *testing.T, seed uint64, d time.Duration) {
	random := rand.New(rand.NewPCG(seed, 0))
	onDisk, changing := seed%2 == 0, seed/2%2 == 0
	cfg, kills, kinds := cluster.Config{Nodes: 5, Proxies: 3, Faults: true}, 0, faults
	if changing {
		cfg.Nodes, cfg.Proxies = 3, 2
		kinds = append(slices.Clone(faults), comings...)
	} else {
		replicas := 3 + 2*random.IntN(2)
		cfg.Node, kills = []string{"--replicas", fmt.Sprint(replicas)}, replicas/2
	}
	if onDisk {
		cfg.Engine, kills = cluster.OnDisk(), many
	}
	c := cluster.Start(t, cfg)
	l := &load{t: t, recorder: history.NewRecorder(), began: time.Now()} // without clients: quoll verify has some
	l.note("seed %d, engine %q, %d nodes, ring changes: %t", seed, cfg.Engine, cfg.Nodes, changing)
	t.Cleanup(func() {
		if t.Failed() {
			require.NoError(t, l.recorder.Save(artifact.Dir(t), history.Result{}))
		}
	})
	n := newNemesis(c, l, random, kills)
	n.kinds = kinds
	queues, clients := "2", "8"
	if seed/4%2 == 0 { // many wait for the same
		queues, clients = "1", "24"
	}
	args := []string{"verify", "--json", "--queue", "--keys", queues, "--clients", clients, "--for", d.String(), "--addr", strings.Join(c.Clients(), ",")}
	if changing {
		for range 2 {
			n.newcomer()
		}
		var admins []string
		for _, m := range c.Nodes {
			admins = append(admins, m.Admin)
		}
		args = append(args, "--churn", strings.Join(admins, ","), "--churn-seed", fmt.Sprint(seed), "--churn-replicas", "3,5")
	}

	var verifying sync.WaitGroup
	var text, errors string
	var code int
	verifying.Go(func() {
		text, errors, code = cluster.RunFor(t, d+12*time.Minute, []string{"QUOLL_SECRET=" + cluster.Secret}, args...)
	})
	awaitQueues(t, c.Proxies[0].Client)
	n.work(d)
	verifying.Wait()
	require.Zero(t, code, "%s%s", text, errors)
	if changing {
		n.requireEqualReplicas()
	}
	var report queueVerified
	require.NoError(t, json.Unmarshal([]byte(text), &report))
	for kind, taken := range report.Queues.Taken {
		require.Positive(t, taken, "%s: %s", kind, text)
	}
	t.Logf("engine %q, ring changes: %t, faults %v; %d operations, %d refused; queues: %+v; of the ring: %s",
		cfg.Engine, changing, n.done, report.Operations, report.Refused, report.Queues, report.Churn)
}

// queueVerified is what quoll verify --queue prints.
type queueVerified struct {
	verified
	Refused int64
	Queues  struct {
		Queues, Pushed, Again, Unknown, Excused int64
		Taken                                   map[string]int64
	}
	Churn json.RawMessage
}

// awaitQueues waits until quoll verify --queue is under way.
func awaitQueues(t *testing.T, address string) {
	client := connect(t, address)
	cluster.Await(t, "quoll verify is under way", func() bool {
		keys, err := client.Keys(t.Context(), "quoll-verify:*").Result()
		return err == nil && len(keys) > 2
	})
}

// verifyingQueues runs quoll verify --queue for two seconds, and as long as it takes to look what is left, and something else meanwhile.
func verifyingQueues(t *testing.T, address string, meanwhile func()) (stdout string, code int) {
	var verifying sync.WaitGroup
	verifying.Go(func() {
		var stderr string
		if stdout, stderr, code = cluster.RunFor(t, time.Minute, nil, "verify", "--json", "--queue", "--for", "2s", "--addr", address); code > 1 {
			stdout += stderr
		}
	})
	meanwhile()
	verifying.Wait()
	return stdout, code
}

// TestVerifyQueuesOfARedisServer: nothing is wrong with it, and nothing stays behind.
func TestVerifyQueuesOfARedisServer(t *testing.T) {
	t.Parallel()
	address := redistest.Start(t)
	client := connect(t, address)
	require.NoError(t, client.Set(t.Context(), "mine", "1", 0).Err())
	text, code := verifyingQueues(t, address, func() {})
	require.Zero(t, code, text)
	var report queueVerified
	require.NoError(t, json.Unmarshal([]byte(text), &report))
	require.Len(t, report.Queues.Taken, 3, text)
	require.Positive(t, report.Queues.Again, text)
	keys, err := client.Keys(t.Context(), "*").Result()
	require.NoError(t, err)
	require.Equal(t, []string{"mine"}, keys)
}

// TestVerifyFindsWhatIsDoneToQueues: somebody else pops what he should not, or pushes.
func TestVerifyFindsWhatIsDoneToQueues(t *testing.T) {
	t.Parallel()
	if testing.Short() {
		t.Skip("it verifies for some seconds")
	}
	address := redistest.Start(t)
	client := connect(t, address)
	for name, test := range map[string]struct {
		harm func(key string) (done bool)
		want func(verified) int
	}{
		"an element is lost": {func(key string) bool {
			return client.LPop(t.Context(), key).Err() == nil
		}, func(r verified) int { return r.Lost }},
		"an element is invented": {func(key string) bool {
			return client.LPushX(t.Context(), key, "ghost").Val() > 0
		}, func(r verified) int { return r.Wrong }},
	} {
		var report verified
		text, code := verifyingQueues(t, address, func() {
			harmed := 0
			cluster.Await(t, "queues are harmed", func() bool {
				keys, err := client.Keys(t.Context(), "quoll-verify:*queue:*:[ab]").Result()
				require.NoError(t, err)
				for _, key := range keys {
					if test.harm(key) {
						harmed++
					}
				}
				return harmed > 2
			})
		})
		require.Equal(t, 1, code, "%s: %s", name, text)
		require.NoError(t, json.Unmarshal([]byte(text), &report), text)
		require.Positive(t, test.want(report), "%s: %s", name, text)
	}
}
