//go:build unix

package e2e

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
)

var (
	crashFor  = flag.Duration("crash", 30*time.Second, "how long TestCrashAll kills and restarts nodes")
	crashSeed = flag.Uint64("crash-seed", 0, "its seed; 0 for another one each time")
)

// lifeTime is about how long one cluster is killed and restarted: then what its
// clients saw is checked, which takes longer the more that is.
const lifeTime = 20 * time.Second

// lives are the clusters that TestCrashAll kills, in turns.
var lives = []life{{fsync: "always"}, {fsync: "interval=100ms"}, {fsync: "always", hurried: true}, {fsync: "interval=100ms", hurried: true}}

// life is a cluster with a durable engine. Nodes that are hurried are always busy behind the
// journal when they are killed.
type life struct {
	fsync   string
	hurried bool
}

// config is what runs in a life, given the binary of those who hurry.
func (l life) config(hurried string) (cluster.Config, loadConfig) {
	cfg, values := cluster.Config{Nodes: 3, Proxies: 2, Engine: cluster.OnDisk(), Fsync: l.fsync}, loadConfig{patient: true}
	if l.hurried {
		cfg.Binary, values.size = hurried, 8<<10
	}
	return cfg, values
}

// TestCrashAll kills and restarts the nodes of clusters with a durable engine, all at
// once and in other ways, at random moments, while clients work. Whatever was acknowledged is there
// afterwards, what clients saw is linearizable over all restarts, and nothing stays unavailable.
func TestCrashAll(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a while")
	}
	if *crashFor <= 0 {
		t.Fatalf("-crash %v: give a time to go on for, such as 10m", *crashFor)
	}
	seed := *crashSeed
	if seed == 0 {
		seed = uint64(rand.Uint32()) + 1
	}
	busy := cluster.Hurried(t)
	n := max(len(lives), int((*crashFor+lifeTime-1)/lifeTime))
	done := map[string]int{}
	var ready []time.Duration
	for i := range n {
		life, lifeSeed := lives[i%len(lives)], seed+uint64(i)
		passed := t.Run(fmt.Sprintf("fsync %s, hurried %v, seed %d", life.fsync, life.hurried, lifeSeed), func(t *testing.T) {
			cfg, values := life.config(busy)
			c := newCrasher(t, cfg, values, lifeSeed)
			c.work(*crashFor / time.Duration(n))
			c.verdict()
			done, ready = plus(done, c.done), append(ready, c.ready...)
		})
		if !passed {
			t.Fatalf("life %d of %d failed; as far as real time can be repeated: go test ./e2e -run TestCrashAll -crash %v -crash-seed %d -timeout 0 -v", i+1, n, *crashFor, seed)
		}
	}
	t.Logf("seed %d, %d lives: %s\n%s", seed, n, counts(done), describe(ready))
}

// crasher kills and restarts the nodes of one cluster.
type crasher struct {
	t      *testing.T
	c      *cluster.Cluster
	l      *load
	random *rand.Rand
	born   map[string]string // the nodes' generations
	done   map[string]int    // blows by name
	ready  []time.Duration   // how long it took until all nodes that started together were ready
}

func newCrasher(t *testing.T, cfg cluster.Config, values loadConfig, seed uint64) *crasher {
	c := cluster.Start(t, cfg)
	l := startLoadOf(t, c.Clients(), values)
	l.note("seed %d, %+v", seed, cfg)
	l.progress(200)
	return &crasher{t: t, c: c, l: l, random: rand.New(rand.NewPCG(seed, 0)), born: generations(t, c), done: map[string]int{}}
}

// work strikes for a while, all blows in turn in random orders, and leaves none out.
func (c *crasher) work(d time.Duration) {
	var order []int
	for end := time.Now().Add(d); len(order) > 0 || time.Now().Before(end); {
		if len(order) == 0 {
			order = c.random.Perm(len(blows))
		}
		c.strike(blows[order[0]])
		order = order[1:]
	}
}

// strike waits for a random moment, strikes, and waits until everybody is served again.
func (c *crasher) strike(b blow) {
	c.l.progress(1 + c.random.Int64N(300))
	c.l.note("%s", b.name)
	b.strike(c)
	c.done[b.name]++
	c.l.everybodyIsServed()
	c.l.note("over: %s", b.name)
}

// verdict checks what the clients saw.
func (c *crasher) verdict() {
	c.t.Helper()
	c.l.stop()
	c.l.requireWords("CLUSTERDOWN", "TRYAGAIN", "LOADING", "NOTDONE", "UNKNOWN", "ERR")
	c.l.requireNothingLost(c.c.Proxies[0].Client)
	require.Equal(c.t, c.born, generations(c.t, c.c), "the nodes are the same ones as in the beginning")
	c.t.Logf("%s; errors: %s\n%s", counts(c.done), counts(c.l.words()), describe(c.ready))
}

// startAll starts the nodes, which are down, and notes how long they took.
func (c *crasher) startAll() {
	took := c.c.StartAll()
	c.ready = append(c.ready, took)
	c.l.note("all nodes are ready after %v", took)
}

// generations returns who the nodes are, all of which must vote in the first epoch.
func generations(t *testing.T, c *cluster.Cluster) map[string]string {
	t.Helper()
	var s status
	cluster.Await(t, "all is well with the cluster", func() bool {
		var code int
		s, code = ringStatus(t, c.Nodes[0].Admin)
		return code == 0
	})
	require.Equal(t, 1, s.Epoch)
	born := map[string]string{}
	for _, n := range s.Nodes {
		born[n.Name] = n.Generation
	}
	return born
}

// describe says how long something took.
func describe(took []time.Duration) string {
	if len(took) == 0 {
		return "no node was waited for"
	}
	slices.Sort(took)
	ms := func(d time.Duration) time.Duration { return d.Round(time.Millisecond) }
	return strings.Join([]string{
		fmt.Sprintf("%d restarts of all nodes: ready after %v (median)", len(took), ms(took[len(took)/2])),
		fmt.Sprintf("%v at least, %v at most", ms(took[0]), ms(took[len(took)-1])),
	}, ", ")
}
