package sim

import (
	"flag"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/anishathalye/porcupine"
)

var (
	seeds = flag.Int("seeds", 120, "histories for each mode")
	start = flag.Int64("seed", 1, "first seed")
	mode  = flag.String("mode", "", "only this mode (chaos, duel, purge, calm, failover)")
)

// TestLinearizable checks histories under every kind of faults. A failing seed is
// replayed with the command that is printed.
func TestLinearizable(t *testing.T) {
	for _, m := range Modes {
		if *mode != "" && *mode != m {
			continue
		}
		t.Run(m, func(t *testing.T) { check(t, m) })
	}
}

func check(t *testing.T, mode string) {
	total := map[string]int{}
	outran := 0
	for seed := *start; seed < *start+int64(*seeds); seed++ {
		s := New(seed, mode)
		s.Run()
		for name, n := range s.Stats {
			total[name] += n
		}
		switch s.Check(3 * time.Second) {
		case porcupine.Illegal:
			t.Fatalf("seed %d is not linearizable; replay: go test ./node/register/sim -run 'TestLinearizable/%s' -mode %s -seed %d -seeds 1\n%s",
				seed, mode, mode, seed, s.Dump())
		case porcupine.Unknown: // not a pass: reported apart
			outran++
		}
	}
	t.Logf("%d histories, %d outran the checker: %s", *seeds, outran, show1(total))
	if outran > *seeds/50 {
		t.Errorf("%d of %d histories outran the checker", outran, *seeds)
	}
}

func show1(total map[string]int) string {
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(total)) {
		parts = append(parts, fmt.Sprintf("%s=%d", name, total[name]))
	}
	return strings.Join(parts, " ")
}

// TestReplay: one seed gives one history, so that a failure can be looked at.
func TestReplay(t *testing.T) {
	for _, m := range Modes {
		for seed := int64(1); seed < 6; seed++ {
			a, b := New(seed, m), New(seed, m)
			a.Run()
			b.Run()
			if a.Dump() != b.Dump() {
				t.Fatalf("mode %s seed %d: two runs differ", m, seed)
			}
		}
	}
}
