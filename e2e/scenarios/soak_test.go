//go:build linux

package scenarios

import (
	"errors"
	"flag"
	"math/rand/v2"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/compose"
	"github.com/quolldb/quoll/e2e/outcome"
)

var (
	soakFor  = flag.Duration("soak", 0, "how long TestSoak breaks a cluster; 0: it is skipped")
	soakSeed = flag.Uint64("soak-seed", 0, "which faults TestSoak makes, and when; 0 for others each time")
)

const (
	// soakFaults are at work at the same time, at the most.
	soakFaults = 3
	// soakRound is how long the cluster is broken before it has to be healthy again.
	soakRound = 30 * time.Second
	// soakPause is about how long it takes until something changes.
	soakPause = 2 * time.Second
)

// TestSoak breaks a cluster in all ways at random, several at a time, for as long as asked. Again and again all is mended: then
// the cluster has to become healthy by itself, to serve every client, and to hold everything that was acknowledged.
// Invariants are watched all the time. It stops at the first violation.
func TestSoak(t *testing.T) {
	if *soakFor <= 0 {
		t.Skip("it takes as long as asked: give -soak 1h, or run make soak T=1h")
	}
	seed := *soakSeed
	if seed == 0 {
		seed = uint64(rand.Uint32()) + 1
	}
	t.Logf("the same faults again, as far as real time can be repeated: -soak-seed %d", seed)
	s := begin(t, compose.Config{Disk: 2 << 30})
	watch := startWatching(s)
	breaker := &breaker{scenario: s, random: rand.New(rand.NewPCG(seed, 0)), done: map[string]int{}}
	for began, round := time.Now(), 1; time.Since(began) < *soakFor; round++ {
		breaker.work(min(soakRound, *soakFor-time.Since(began)), func() { s.requireRight(watch) })
		for _, p := range s.Proxies {
			requireServed(t, s, p)
		}
		watch.compareAll()
		s.requireRight(watch)
		t.Logf("round %d, %v: %d commands answered, errors %v, faults %v, %s", round, time.Since(began).Round(time.Second), s.load.done.Load(),
			s.load.errorsByWord(), breaker.done, watch)
	}
	s.end()
	s.requireRight(watch)
}

// requireRight checks what must hold at any time: what clients saw, and the invariants.
func (s *scenario) requireRight(w *watch) {
	s.t.Helper()
	_, err := s.load.history.verdict()
	require.NoError(s.t, errors.Join(err, w.verdict()))
	for _, f := range s.load.failed() {
		word := outcome.Word(f.err)
		require.Contains(s.t, []string{"CLUSTERDOWN", "UNKNOWN", "TRYAGAIN", "LOADING", "NOTDONE", "MISCONF", outcome.ConnectionLost, outcome.ClientTimeOut}, word,
			"%s at %s: %v", f.command, f.proxy, f.err)
	}
	s.load.forget()
}
