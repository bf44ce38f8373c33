package mutation

import (
	"flag"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	mutants    = flag.Bool("mutants", false, "compile and run the mutants, which takes minutes")
	only       = flag.String("only", "", "with -mutants: only the mutation of this name, and what its test prints")
	sample     = flag.Int("sample", 0, "with -mutants: only so many of them, chosen at random; 0 for all")
	sampleSeed = flag.Uint64("sample-seed", 0, "which ones -sample chooses; 0 for others each time")
)

// workers is how many mutants are compiled and run at the same time.
const workers = 2

// verdict is what became of a mutant.
type verdict struct {
	mutation mutation
	seed     string
	problem  string // of its history
	took     time.Duration
	out      string
	err      error // why it does not count as caught, nil if it does
}

// TestMutants takes the rules away one at a time and demands that each is missed.
// Before, it makes sure that the same tests pass while all rules are there.
func TestMutants(t *testing.T) {
	if *only != "" && !*mutants {
		t.Fatal("-only says which of the mutants, so it needs -mutants")
	}
	if !*mutants {
		t.Skip("takes minutes: make mutants")
	}
	chosen := choose(t, *only)
	if *only == "" && *sample > 0 {
		chosen = draw(t, chosen)
	}
	dir, err := os.MkdirTemp("", "quoll-mutants-")
	require.NoError(t, err)
	defer func() {
		if t.Failed() {
			t.Logf("the mutated files and what the tests printed are in %s", dir)
			return
		}
		require.NoError(t, os.RemoveAll(dir))
	}()
	w := &workshop{dir: dir}
	require.True(t, t.Run("unmutated", func(t *testing.T) { w.control(t, chosen) }), "the tests fail though no rule is missing")
	verdicts := w.tryAll(chosen)
	for _, v := range verdicts {
		if v.err != nil {
			t.Errorf("%s: %v\n  %s: %s\n  replay: %s", v.mutation.name, v.err, v.mutation.rule, v.mutation.effect, replay(v.mutation.name))
		}
	}
	if *only != "" {
		t.Log("\n" + verdicts[0].out)
	}
	t.Log("\n" + report(verdicts))
}

// choose returns the mutation of a name, all of them for "".
func choose(t *testing.T, name string) []mutation {
	all := everything()
	if name == "" {
		return all
	}
	var names []string
	for _, m := range all {
		if m.name == name {
			return []mutation{m}
		}
		names = append(names, m.name)
	}
	t.Fatalf("-only %s: there is no mutation of that name; there are %s", name, strings.Join(names, ", "))
	return nil
}

// draw returns -sample of the mutations, in their order.
func draw(t *testing.T, all []mutation) []mutation {
	if *sampleSeed == 0 {
		*sampleSeed = rand.Uint64()
	}
	n := min(*sample, len(all))
	t.Logf("%d of %d mutants; the same ones again: -sample %[1]d -sample-seed %[3]d", n, len(all), *sampleSeed)
	places := rand.New(rand.NewPCG(*sampleSeed, 0)).Perm(len(all))[:n]
	slices.Sort(places)
	drawn := make([]mutation, n)
	for i, place := range places {
		drawn[i] = all[place]
	}
	return drawn
}

// control runs the trials of mutations without the mutations.
func (w *workshop) control(t *testing.T, chosen []mutation) {
	trials := map[string]trial{} // of each test or mode the longest
	for _, m := range chosen {
		key := m.caught.String()
		if have, ok := trials[key]; !ok || have.seeds < m.caught.seeds {
			trials[key] = m.caught
		}
	}
	binaries := map[string]string{}
	for key, tr := range trials {
		if binaries[tr.pkg] == "" {
			binary, err := w.compile(nil, tr.pkg)
			require.NoError(t, err, tr.pkg)
			binaries[tr.pkg] = binary
		}
		out, failed, err := tr.run(binaries[tr.pkg], false, true)
		require.NoError(t, err, key)
		require.False(t, failed, "%s\n%s", key, out)
		require.NotContains(t, out, ranNothing, key)
	}
}

// tryAll tries the mutations, some at the same time, and returns what became of
// each, in their order.
func (w *workshop) tryAll(chosen []mutation) []verdict {
	verdicts := make([]verdict, len(chosen))
	next := make(chan int)
	var wait sync.WaitGroup
	for range workers {
		wait.Go(func() {
			for i := range next {
				verdicts[i] = w.try(chosen[i])
			}
		})
	}
	for i := range chosen {
		next <- i
	}
	close(next)
	wait.Wait()
	return verdicts
}

func (w *workshop) try(m mutation) verdict {
	began := time.Now()
	v := verdict{mutation: m}
	binary, err := w.compile(&m, m.caught.pkg)
	if err != nil {
		v.err = err
		return v
	}
	var failed bool
	v.out, failed, v.err = m.caught.run(binary, true, *only != "")
	if v.err == nil {
		v.err = m.caught.judge(v.out, failed)
	}
	if m.caught.mode != "" {
		v.seed, v.problem = seedOf(v.out)
	}
	v.took = time.Since(began)
	if v.err == nil {
		_ = os.Remove(binary)
	} else if err := os.WriteFile(filepath.Join(w.dir, m.name, "output.txt"), []byte(v.out), 0o600); err != nil {
		v.err = fmt.Errorf("%w; and its output could not be kept: %w", v.err, err)
	}
	return v
}

func replay(name string) string {
	return "go test ./internal/mutation -run TestMutants -mutants -v -only " + name
}

// report lists the verdicts.
func report(verdicts []verdict) string {
	var b strings.Builder
	caught := 0
	fmt.Fprintf(&b, "%-32s %-28s %-76s %5s %6s\n", "mutation", "rule", "caught by", "seed", "s")
	for _, v := range verdicts {
		by := v.mutation.caught.String()
		switch {
		case v.err != nil:
			by = "NOT CAUGHT"
		case v.problem != "":
			by += ": " + v.problem
			fallthrough
		default:
			caught++
		}
		fmt.Fprintf(&b, "%-32s %-28s %-76s %5s %6.1f\n", v.mutation.name, v.mutation.rule, by, v.seed, v.took.Seconds())
	}
	fmt.Fprintf(&b, "%d of %d mutations were caught; to see how one is: %s\n", caught, len(verdicts), replay("NAME"))
	return b.String()
}
