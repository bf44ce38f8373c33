//go:build unix

package e2e

import (
	"bytes"
	"flag"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
	"github.com/quolldb/quoll/e2e/outcome"
)

var hungFor = flag.Duration("hung", 0, "how long TestHungReplicaCostsBoundedMemory has a replica hang under load; 0: it is skipped")

// What the load of TestHungReplicaCostsBoundedMemory overwrites, so that what is stored does not grow.
const hungKeys, hungValue = 20_000, 1 << 10

// By how many bytes a process may grow because a replica hangs: for good, and for some seconds. 64 MiB
// may wait in a link until the connection is given up, after 5 s. What that leaves behind while it
// grows, and what the collector has not looked at yet, come on top: 300 to 700 MiB were seen.
const hungMemory, hungPeak = 256 << 20, 1 << 30

// hungCollected is within how much time the peak has to be over, should -hung be short.
const hungCollected = time.Minute

// TestHungReplicaCostsBoundedMemory: what a replica does not take while it hangs is not kept for it
// without bound, by the other nodes or by the proxy, however long that lasts. It catches up afterwards.
func TestHungReplicaCostsBoundedMemory(t *testing.T) {
	if *hungFor <= 0 {
		t.Skip("it takes a while: give -hung 20s")
	}
	c := cluster.Start(t, cluster.Config{Nodes: 3, Proxies: 1})
	if own, files := c.Nodes[0].Memory(); own+files == 0 {
		t.Skip("this system does not say how much memory processes occupy")
	}
	load := startOverwriting(t, c.Proxies[0].Client)
	curve := newMemoryCurve(append(c.Proxies, c.Nodes[:2]...))
	for range 5 { // until the processes have the size that the load gives them
		curve.sample(load.rounds(t))
	}
	before := curve.highest()
	victim := c.Nodes[2]
	victim.Stop()
	curve.note(victim.Name + " hangs")
	for began := time.Now(); time.Since(began) < *hungFor || !curve.within(before, hungMemory) && time.Since(began) < hungCollected; {
		curve.sample(load.rounds(t))
	}
	during, bounded := curve.highest(), curve.within(before, hungMemory)
	began := time.Now()
	victim.Continue()
	curve.note(victim.Name + " goes on")
	for range 2 {
		curve.sample(load.rounds(t))
	}
	written := load.stop()
	keys := awaitConverged(t, c.Nodes, time.Now().Add(convergeWithin))
	t.Logf("%d MiB written in all; the nodes hold the same %d keys, %d MiB, %v after %s went on\n%s", written>>20, keys, keys*hungValue>>20,
		time.Since(began).Round(time.Millisecond), victim.Name, curve)
	for i, p := range curve.processes {
		require.Less(t, during[i]-before[i], int64(hungPeak), "growth of %s while %s hung", p.Name, victim.Name)
	}
	require.True(t, bounded, "what was kept for %s is given back while it still hangs", victim.Name)
}

// overwriting is a load that overwrites the same keys in large pipelines as fast as it can.
type overwriting struct {
	bytes    atomic.Int64
	stopping atomic.Bool
	running  chan error
	clients  int
}

// startOverwriting has written all keys when it returns.
func startOverwriting(t *testing.T, proxy string) *overwriting {
	const clients, trip = 8, 100
	o := &overwriting{running: make(chan error, clients), clients: clients}
	value := bytes.Repeat([]byte("v"), hungValue)
	client := connect(t, proxy)
	write := func(first int) error {
		pipe := client.Pipeline()
		for k := first; k < first+trip; k++ {
			pipe.Set(t.Context(), fmt.Sprint("k:", k), value, 0)
		}
		_, err := pipe.Exec(t.Context())
		if err == nil {
			o.bytes.Add(trip * hungValue)
		}
		return err
	}
	inParallel(t, hungKeys/trip, func(i int) error { return write(i * trip) })
	for i := range clients {
		go func() {
			for k := i * trip; !o.stopping.Load(); k += clients * trip {
				if outcome.Of(write(k%hungKeys)) != outcome.Answered {
					time.Sleep(patience) // another node takes over
				}
			}
			o.running <- nil
		}()
	}
	t.Cleanup(func() { o.stop() })
	return o
}

// rounds waits until about a second has passed under load, and returns how much was written in it.
func (o *overwriting) rounds(t *testing.T) int64 {
	t.Helper()
	before := o.bytes.Load()
	<-time.After(time.Second)
	return o.bytes.Load() - before
}

// stop returns how many bytes were written.
func (o *overwriting) stop() int64 {
	if !o.stopping.Swap(true) {
		for range o.clients {
			<-o.running
		}
	}
	return o.bytes.Load()
}

// memoryCurve is how much memory processes have, as time goes by.
type memoryCurve struct {
	processes []*cluster.Member
	most      []int64 // bytes, since highest was asked
	text      strings.Builder
	seconds   int
}

func newMemoryCurve(processes []*cluster.Member) *memoryCurve {
	c := &memoryCurve{processes: processes, most: make([]int64, len(processes))}
	c.note("MiB resident, second by second, under load")
	return c
}

// sample is called once a second, with what was written in it.
func (c *memoryCurve) sample(written int64) {
	c.seconds++
	fmt.Fprintf(&c.text, "%4d s:", c.seconds)
	for i, p := range c.processes {
		own, files := p.Memory()
		c.most[i] = max(c.most[i], own+files)
		fmt.Fprintf(&c.text, "  %s %4d", p.Name, (own+files)>>20)
	}
	fmt.Fprintf(&c.text, "  written %4d\n", written>>20)
}

func (c *memoryCurve) note(what string) { c.text.WriteString(what + "\n") }

// within reports whether no process has more memory now than it had, and some.
func (c *memoryCurve) within(before []int64, some int64) bool {
	for i, p := range c.processes {
		if own, files := p.Memory(); own+files > before[i]+some {
			return false
		}
	}
	return true
}

// highest returns the most that each process had since it was called last.
func (c *memoryCurve) highest() []int64 {
	most := c.most
	c.most = make([]int64, len(c.processes))
	return most
}

func (c *memoryCurve) String() string { return c.text.String() }
