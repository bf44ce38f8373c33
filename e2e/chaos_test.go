//go:build unix

package e2e

import (
	"flag"
	"fmt"
	"maps"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/e2e/cluster"
	"github.com/quolldb/quoll/e2e/outcome"
)

var (
	chaosFor  = flag.Duration("chaos", 8*time.Second, "how long TestChaos breaks clusters")
	chaosSeed = flag.Uint64("chaos-seed", 0, "its seed; 0 for another one each time")
)

// roundTime is how long one cluster is broken. Nodes of the engine memory that lost their
// state do not vote any more, so that a minority may die in each.
const roundTime = 20 * time.Second

// TestChaos breaks clusters in all ways at once, at random, while clients work: nodes
// and proxies die and hang, links are cut in one direction, partitioned, slow, lose, repeat and reorder
// what they carry, some clients do not wait and send again. Clients get errors then, but only those that
// they are promised, never a wrong answer; and when all is mended everybody is served again.
// With $QUOLL_TLS they speak TLS, inside and with clients, all certificates are replaced meanwhile, and clients are a user with rights.
// Clusters of an even seed have the engine badger, whose nodes come back with their state: any number of them die.
func TestChaos(t *testing.T) {
	if testing.Short() {
		t.Skip("it takes a while")
	}
	if *chaosFor <= 0 {
		t.Fatalf("-chaos %v: give a time to go on for, such as 10m", *chaosFor)
	}
	seed := *chaosSeed
	if seed == 0 {
		seed = uint64(rand.Uint32()) + 1
	}
	rounds := int((*chaosFor + roundTime - 1) / roundTime)
	var sum chaosSummary
	for i := range rounds {
		roundSeed, d := seed+uint64(i), *chaosFor/time.Duration(rounds)
		passed := t.Run(fmt.Sprint("seed ", roundSeed), func(t *testing.T) { sum.add(chaosRound(t, roundSeed, d)) })
		if !passed {
			t.Fatalf("round %d of %d failed; as far as real time can be repeated: go test ./e2e -run TestChaos -chaos %v -chaos-seed %d -timeout 0 -v", i+1, rounds, d, roundSeed)
		}
	}
	t.Logf("seed %d, %d rounds in %v\n%v", seed, rounds, *chaosFor, &sum)
	for _, kind := range sum.neverTookEffect() {
		if rounds > 1 { // a few seconds may not be enough for all kinds
			t.Errorf("no fault of this kind ever took effect: %s", kind)
		}
	}
}

// chaosRound breaks one cluster.
func chaosRound(t *testing.T, seed uint64, d time.Duration) chaosSummary {
	random := rand.New(rand.NewPCG(seed, 0))
	replicas := 3 + 2*random.IntN(2)
	cfg := cluster.Config{Nodes: 5, Proxies: 3, Node: []string{"--replicas", fmt.Sprint(replicas)}, Faults: true, Serving: seed%4 >= 2}
	kills := replicas / 2
	if seed%2 == 0 {
		cfg.Engine, cfg.Fsync, kills = "badger", []string{"always", "interval=100ms"}[random.IntN(2)], many
	}
	c := cluster.Start(t, cfg)
	addresses, login, secured := chaosLogin(t, c)
	l := startLoadOf(t, addresses, loadConfig{impatient: loadClients / 4, login: login})
	l.note("seed %d, %d replicas, engine %q, fsync %q, nodes serve clients: %v, TLS and users: %v", seed, replicas, cfg.Engine, cfg.Fsync, cfg.Serving, secured)
	l.progress(200)
	n := newNemesis(c, l, random, kills)
	var certificates *rotation
	if secured {
		certificates = &rotation{c: c, l: l, every: d / 5}
		n.beside = certificates.rotate
	}
	transfers := startTransfers(t, c, d)
	n.work(d)
	l.everybodyIsServed()
	moved := transfers()
	l.stop()
	certificates.requireInForce()
	l.requireWords("CLUSTERDOWN", "TRYAGAIN", "LOADING", "NOTDONE", "UNKNOWN", "ERR", outcome.ClientTimeOut, outcome.ConnectionLost)
	result := l.requireNothingLost(c.Proxies[0].Client)
	return chaosSummary{commands: l.done.Load(), repeated: l.repeated.Load(), histories: result.Keys, operations: result.Operations,
		unknown: result.Unknown, errors: l.words(), faults: n.done, transfers: moved, frames: c.Injected(), kills: kills, rotations: certificates.count()}
}

// chaosSummary counts what rounds did.
type chaosSummary struct {
	commands, repeated             int64
	histories, operations, unknown int
	transfers                      map[string]int
	errors, faults                 map[string]int
	frames                         cluster.Injected
	kills                          int // the most that a round allowed
	rotations                      int // of all certificates
}

func (s *chaosSummary) add(other chaosSummary) {
	s.commands += other.commands
	s.repeated += other.repeated
	s.histories += other.histories
	s.operations += other.operations
	s.unknown += other.unknown
	s.errors, s.faults = plus(s.errors, other.errors), plus(s.faults, other.faults)
	s.transfers = plus(s.transfers, other.transfers)
	s.frames.Add(other.frames)
	s.kills = max(s.kills, other.kills)
	s.rotations += other.rotations
}

func plus(a, b map[string]int) map[string]int {
	sum := map[string]int{}
	for _, counts := range []map[string]int{a, b} {
		for name, n := range counts {
			sum[name] += n
		}
	}
	return sum
}

// neverTookEffect names the kinds of faults that did not happen.
func (s *chaosSummary) neverTookEffect() (kinds []string) {
	for _, f := range faults {
		if s.faults[f.name] == 0 && f.needs <= s.kills {
			kinds = append(kinds, f.name)
		}
	}
	for name, n := range map[string]int{"frames cut": s.frames.Cut, "frames dropped": s.frames.Dropped, "frames delayed": s.frames.Delayed,
		"frames duplicated": s.frames.Duplicated, "frames reordered": s.frames.Reordered, "commands repeated": int(s.repeated)} {
		if n == 0 {
			kinds = append(kinds, name)
		}
	}
	return kinds
}

// String is what is shown after a run.
func (s *chaosSummary) String() string {
	return strings.Join([]string{
		fmt.Sprintf("%d commands answered, %d sent again by clients that did not wait", s.commands, s.repeated),
		fmt.Sprintf("%d histories with %d operations are linearizable, %d writes of unknown outcome among them", s.histories, s.operations, s.unknown),
		"transfers, with the same total at any moment: " + counts(s.transfers),
		"errors by word: " + counts(s.errors),
		fmt.Sprintf("faults: %s; all certificates replaced %d times", counts(s.faults), s.rotations),
		fmt.Sprintf("frames: %d cut off, %d dropped, %d delayed, %d duplicated, %d reordered",
			s.frames.Cut, s.frames.Dropped, s.frames.Delayed, s.frames.Duplicated, s.frames.Reordered),
	}, "\n")
}

func counts(of map[string]int) string {
	var all []string
	for _, name := range slices.Sorted(maps.Keys(of)) {
		all = append(all, fmt.Sprint(of[name], " ", name))
	}
	return strings.Join(all, ", ")
}

// TestChaosSummaryTellsWhatIsMissing: a kind of fault that never happened is told.
func TestChaosSummaryTellsWhatIsMissing(t *testing.T) {
	require.Len(t, (&chaosSummary{kills: many}).neverTookEffect(), len(faults)+6)
}
