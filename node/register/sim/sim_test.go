package sim

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

var (
	seeds      = flag.Int("seeds", 1740, "histories, spread over the modes")
	firstSeed  = flag.Int64("seed", 1, "first seed of every mode")
	onlyMode   = flag.String("mode", "", "only this mode: "+strings.Join(Modes, ", "))
	clients    = flag.Int("clients", 0, "clients in each history, 0 for the usual number")
	operations = flag.Int("operations", 0, "operations of each client, 0 for the usual number")
	checkFor   = 3 * time.Second
)

func TestMain(m *testing.M) {
	flag.Usage = func() {} // a bad flag gets its one line, without the list of all of go test's
	flag.Parse()
	switch {
	case *onlyMode != "" && !slices.Contains(Modes, *onlyMode):
		fail("there is no -mode " + *onlyMode + "; there are " + strings.Join(Modes, ", "))
	case *seeds < 1 || *clients < 0 || *operations < 0 || *clients > 20 || *operations > 100:
		fail("-seeds is at least 1, -clients at most 20, -operations at most 100, none is negative")
	}
	os.Exit(m.Run())
}

func fail(text string) {
	fmt.Fprintln(os.Stderr, text)
	os.Exit(2)
}

// total is the sum over all modes, for the coverage.
var total tally

type tally struct {
	mu                   sync.Mutex
	stats                map[string]int
	histories, undecided int
}

func (y *tally) add(stats map[string]int, undecided bool) {
	y.mu.Lock()
	defer y.mu.Unlock()
	if y.stats == nil {
		y.stats = map[string]int{}
	}
	y.histories++
	if undecided {
		y.undecided++
	}
	for name, n := range stats {
		y.stats[name] += n
	}
}

func (y *tally) String() string {
	return fmt.Sprintf("%d histories, %d operations, %d histories that outran the checker", y.histories, y.stats["operations"], y.undecided)
}

// TestLinearizable checks histories under every kind of faults. A failing seed is
// replayed with the command that is printed.
func TestLinearizable(t *testing.T) {
	modes := Modes
	if *onlyMode != "" {
		modes = []string{*onlyMode}
	}
	for _, mode := range modes {
		t.Run(mode, func(t *testing.T) { run(t, mode, max(1, *seeds/len(modes))) })
	}
	if t.Failed() {
		return
	}
	t.Logf("%v", &total)
	var counts []string
	for _, name := range slices.Sorted(maps.Keys(total.stats)) {
		counts = append(counts, fmt.Sprintf("%s %d", name, total.stats[name]))
	}
	t.Logf("what happened: %s", strings.Join(counts, ", "))
	if total.undecided > total.histories/50 {
		t.Errorf("%d of %d histories outran the checker: nothing is known about them", total.undecided, total.histories)
	}
	// One bad history has several of them, so they say little in a small run. What a batch writes takes more rounds.
	for _, of := range []struct {
		well, unknown string
		each          int
	}{{begunWhenWell, unknownWhenWell, 300}, {batchesWhenWell, batchesUnknown, 30}} {
		if well, unknown := total.stats[of.well], total.stats[of.unknown]; unknown > 5+well/of.each {
			t.Errorf("%d of %d operations that began when a majority was well are of unknown outcome (%s)", unknown, well, of.unknown)
		}
	}
	if missing := Missing(total.stats, total.histories); *onlyMode == "" && len(missing) > 0 {
		t.Errorf("these never happened, so the run shows less than it should: %s", strings.Join(missing, ", "))
	}
}

// run checks so many seeds of a mode on all processors.
func run(t *testing.T, mode string, count int) {
	var next atomic.Int64
	var failed atomic.Bool
	next.Store(*firstSeed)
	var mu sync.Mutex
	var failures []failure
	sum := tally{}
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), count) {
		workers.Go(func() {
			for seed := next.Add(1) - 1; seed < *firstSeed+int64(count) && !failed.Load(); seed = next.Add(1) - 1 {
				o := Options{Mode: mode, Seed: seed, Clients: *clients, Operations: *operations}
				s := New(o)
				s.Run()
				v := s.Check(checkFor)
				sum.add(s.Stats, v.Undecided)
				total.add(s.Stats, v.Undecided)
				if v.Problem != "" {
					failed.Store(true)
					mu.Lock()
					failures = append(failures, failure{o, v})
					mu.Unlock()
				}
			}
		})
	}
	workers.Wait()
	t.Logf("%v", &sum)
	if len(failures) > 0 {
		report(t, slices.MinFunc(failures, func(a, b failure) int { return cmp.Compare(a.options.Seed, b.options.Seed) }))
	}
}

// TestReplay: one seed gives one history, so that a failure can be looked at.
func TestReplay(t *testing.T) {
	for _, mode := range Modes {
		for seed := range int64(6) {
			var traces [2]strings.Builder
			for i := range traces {
				s := New(Options{Mode: mode, Seed: seed, Trace: func(line string) { traces[i].WriteString(line + "\n") }})
				s.Run()
			}
			if traces[0].String() != traces[1].String() {
				t.Fatalf("mode %s seed %d: two runs differ", mode, seed)
			}
		}
	}
}
