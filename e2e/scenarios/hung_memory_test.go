//go:build linux

package scenarios

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/go-redis/v9"
	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/compose"
	"github.com/quolldb/quoll/e2e/outcome"
)

const (
	// hungPeak is by how many bytes a process may grow for some seconds because a replica hangs. 64 MiB
	// may wait in a link until the connection is given up, and what the collector has not looked at yet comes on top.
	hungPeak = 1 << 30
	// hungMemory is by how many bytes it may have grown in the end, while a node's cache fills: 256 MiB.
	hungMemory = 512 << 20
)

// TestHungReplicaCostsBoundedMemory: what a replica does not take while it hangs is not kept for it without
// bound, by nodes or proxies. When it goes on it gets what it has missed.
func TestHungReplicaCostsBoundedMemory(t *testing.T) {
	long(t)
	s := begin(t, compose.Config{Memory: 2 << 30})
	hung := s.Nodes[2]
	heavy := overwrite(t, s.Proxies)
	curve := memoryCurve{services: slices.DeleteFunc(s.Services(), func(other *compose.Service) bool { return other == hung })}
	for range 5 { // until the processes have the size that the load gives them
		curve.sample()
	}
	before := curve.highest()
	f := s.strike("c hangs under heavy writes", hung.Pause)
	for time.Since(f.set) < lasting(*hangFor, time.Minute, 10*time.Second) {
		curve.sample()
	}
	during := curve.highest()
	for range 3 {
		curve.sample()
	}
	after := curve.highest()
	back := f.mend(hung.Unpause)
	heavy.stop()
	s.Await("c has all that it missed", func() (bool, string) { return sameEverywhere(s) })
	t.Logf("%d MiB written; c has caught up %v after it went on\n%s", heavy.bytes.Load()>>20, time.Since(back.from).Round(time.Millisecond), &curve.text)
	for i, p := range curve.services {
		require.Less(t, during[i]-before[i], int64(hungPeak), "growth of %s while c hung", p.Name)
		require.Less(t, after[i]-before[i], int64(hungMemory), "growth of %s at the end", p.Name)
		require.Zero(t, p.Restarts(), "%s was restarted", p.Name)
	}
	for _, e := range s.load.failed() {
		require.Contains(t, []string{"UNKNOWN", "TRYAGAIN", "LOADING", "NOTDONE"}, outcome.Word(e.err), "%s at %s: %v", e.command, e.proxy, e.err)
	}
	s.end()
}

// sameEverywhere reports whether all replicas hold the same of some of the keys that were overwritten.
func sameEverywhere(s *scenario) (same bool, why string) {
	for k := 0; k < hungKeys; k += hungKeys / 50 {
		holdings, err := s.Proxies[0].Locate(hungKey(k))
		if err != nil {
			return false, err.Error()
		}
		for _, h := range holdings {
			if h.Error != "" || !h.Present || h.Version != holdings[0].Version {
				return false, fmt.Sprintf("%s: %+v", hungKey(k), holdings)
			}
		}
	}
	return true, ""
}

// The keys that are overwritten: what is stored does not grow.
const hungKeys, hungValue, hungTrip = 20_000, 1 << 10, 100

func hungKey(k int) string { return fmt.Sprint("heavy:", k) }

// overwriting is a load that overwrites the same keys in large pipelines as fast as it can.
type overwriting struct {
	bytes    atomic.Int64
	stopping atomic.Bool
	running  sync.WaitGroup
}

// overwrite starts clients of the proxies.
func overwrite(t *testing.T, proxies []*compose.Service) *overwriting {
	const clients = 4
	o := &overwriting{}
	value := bytes.Repeat([]byte("v"), hungValue)
	for i := range clients {
		client := connect(proxies[i%len(proxies)])
		o.running.Go(func() {
			defer client.Close()
			for k := i * hungTrip; !o.stopping.Load(); k += clients * hungTrip {
				if o.write(t, client, k%hungKeys, value) != nil {
					time.Sleep(4 * pace) // another node takes over
				}
			}
		})
	}
	t.Cleanup(o.stop)
	return o
}

// write overwrites some keys.
func (o *overwriting) write(t *testing.T, client *redis.Client, first int, value []byte) error {
	pipe := client.Pipeline()
	for k := first; k < first+hungTrip; k++ {
		pipe.Set(t.Context(), hungKey(k), value, 0)
	}
	_, err := pipe.Exec(t.Context())
	if err == nil {
		o.bytes.Add(hungTrip * hungValue)
	}
	return err
}

func (o *overwriting) stop() {
	o.stopping.Store(true)
	o.running.Wait()
}

// memoryCurve is how much memory services have, second by second.
type memoryCurve struct {
	services []*compose.Service
	most     []int64 // bytes, since highest was asked
	text     strings.Builder
}

// sample takes a second.
func (c *memoryCurve) sample() {
	time.Sleep(time.Second)
	c.most = append(c.most, make([]int64, len(c.services)-len(c.most))...)
	for i, s := range c.services {
		own := s.Memory()
		c.most[i] = max(c.most[i], own)
		fmt.Fprintf(&c.text, "  %s %4d MiB", s.Name, own>>20)
	}
	c.text.WriteString("\n")
}

// highest returns the most that each service had since it was called last.
func (c *memoryCurve) highest() []int64 {
	most := c.most
	c.most = nil
	return most
}
