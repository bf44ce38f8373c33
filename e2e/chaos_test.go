//go:build unix

package e2e

import (
	"flag"
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
)

var (
	chaosFor  = flag.Duration("chaos", 8*time.Second, "how long TestNodesHangAtRandom goes on")
	chaosSeed = flag.Uint64("chaos-seed", 0, "its seed; 0 for another one each time")
)

// TestNodesHangAtRandom lets every node and a proxy hang again and again, each by
// itself, so that now and then no majority is left, homes are overtaken while they hang, and go on
// in the middle of what they were doing. Clients get errors then, but never a wrong answer.
func TestNodesHangAtRandom(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a while")
	}
	seed := *chaosSeed
	if seed == 0 {
		seed = rand.Uint64()
	}
	t.Log("seed", seed)
	c := cluster.Start(t, cluster.Config{Nodes: 5, Proxies: 3})
	l := startLoad(t, c.Clients())
	over := make(chan struct{})
	var faults sync.WaitGroup
	for i, victim := range append(append([]*cluster.Member{}, c.Nodes...), c.Proxies[0]) {
		random := rand.New(rand.NewPCG(seed, uint64(i)))
		faults.Go(func() {
			for {
				if !pause(over, random, 2500*time.Millisecond) {
					return
				}
				victim.Stop()
				goOn := pause(over, random, 1500*time.Millisecond)
				victim.Continue()
				if !goOn {
					return
				}
			}
		})
	}
	time.Sleep(*chaosFor)
	close(over)
	faults.Wait()
	l.progress(2000)
	l.stop()
	unknown := 0
	for _, f := range l.failures {
		if outcomeOf(f.err) == unknownOutcome {
			unknown++
		}
	}
	t.Logf("%d errors, %d of them of unknown outcome", len(l.failures), unknown)
	l.requireNothingLost(c.Proxies[0].Client)
	require.NotZero(t, len(l.failures), "the faults were none")
}

// pause waits for a random time up to longest. It reports false if that was cut
// short because all is over.
func pause(over chan struct{}, random *rand.Rand, longest time.Duration) bool {
	select {
	case <-over:
		return false
	case <-time.After(time.Duration(random.Int64N(int64(longest)))):
		return true
	}
}
