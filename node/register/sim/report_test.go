package sim

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/quolldb/quoll/internal/artifact"
)

type failure struct {
	options Options
	verdict Verdict
}

// replay is the command that shows a failure again.
func (f failure) replay() string {
	text := fmt.Sprintf("go test ./node/register/sim -run TestLinearizable/%s -mode %s -seeds 1 -seed %d", f.options.Mode, f.options.Mode, f.options.Seed)
	if f.options.Clients != 0 {
		text += fmt.Sprintf(" -clients %d -operations %d", f.options.Clients, f.options.Operations)
	}
	return text
}

// report prints a failure, the smallest one of its kind that is found soon, and where
// everything about both is.
func report(t *testing.T, f failure) {
	t.Errorf("seed %d %s; replay: %s\n%s", f.options.Seed, f.verdict.Problem, f.replay(), f.verdict.Detail)
	dir := artifact.Dir(t)
	save(t, dir, "seed", f)
	if small, ok := smaller(f); ok {
		save(t, dir, "smaller", small)
		t.Errorf("a smaller one %s; replay: %s\n%s", small.verdict.Problem, small.replay(), small.verdict.Detail)
	}
	t.Errorf("histories and traces are in %s", dir)
}

// save writes history and trace of a failure.
func save(t *testing.T, dir, name string, f failure) {
	var trace strings.Builder
	f.options.Trace = func(line string) { trace.WriteString(line + "\n") }
	s := New(f.options)
	s.Run()
	for suffix, text := range map[string]string{"-history.txt": f.replay() + "\n\n" + f.verdict.Detail + "\n" + s.History(), "-trace.txt": trace.String()} {
		if err := os.WriteFile(filepath.Join(dir, name+suffix), []byte(text), 0o600); err != nil {
			t.Error(err)
		}
	}
}

// smaller looks for the same problem with fewer clients and operations, for some seconds.
func smaller(f failure) (failure, bool) {
	deadline := time.Now().Add(10 * time.Second)
	for total := int64(4); total < 30; total += 2 {
		for clients := 2; clients <= 4; clients++ {
			for seed := int64(1); seed <= 300; seed++ {
				if time.Now().After(deadline) {
					return failure{}, false
				}
				o := Options{Mode: f.options.Mode, Seed: seed, Clients: clients, Operations: max(1, int(total)/clients)}
				s := New(o)
				s.Run()
				if v := s.Check(checkFor); v.Problem == f.verdict.Problem {
					return failure{o, v}, true
				}
			}
		}
	}
	return failure{}, false
}
