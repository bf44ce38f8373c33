//go:build unix

package e2e

import (
	"fmt"
	"testing"
	"time"

	"github.com/quolldb/quoll/e2e/cluster"
)

// reaction is how long a dead or hung node may go unnoticed. A write that is sent to
// it in this time cannot be taken back (R11), so its outcome may be unknown.
const reaction = 500 * time.Millisecond

func TestOneNodeIsKilledUnderLoad(t *testing.T) {
	for _, proxies := range proxyCounts() {
		t.Run(fmt.Sprint(proxies, " proxies"), func(t *testing.T) {
			c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: proxies})
			l := startLoad(t, c.Clients())
			l.progress(3000)
			broke := l.now()
			c.Nodes[0].Kill()
			l.progress(10000)
			l.stop()
			l.requireFewErrors(broke, reaction)
			l.requireNothingLost(c.Proxies[0].Client)
		})
	}
}

func TestOneNodeHangsUnderLoad(t *testing.T) {
	for _, proxies := range proxyCounts() {
		t.Run(fmt.Sprint(proxies, " proxies"), func(t *testing.T) {
			c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: proxies})
			l := startLoad(t, c.Clients())
			l.progress(3000)
			hang := 2 * time.Second
			if proxies > 1 && !testing.Short() {
				hang = 10 * time.Second // so long that connections are given up
			}
			broke := l.now()
			c.Nodes[1].Stop()
			time.Sleep(hang) // the fault itself
			before := l.done.Load()
			c.Nodes[1].Continue()
			l.progress(5000)
			l.stop()
			t.Logf("%d commands answered until the node went on", before)
			l.requireFewErrors(broke, reaction)
			l.requireNothingLost(c.Proxies[0].Client)
		})
	}
}

func proxyCounts() []int {
	if testing.Short() {
		return []int{2}
	}
	return []int{1, 2}
}
