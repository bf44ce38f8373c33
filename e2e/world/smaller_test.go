package world

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
)

var (
	planned = flag.String("plan", "", "what there is of each world; see ParsePlan")
	smaller = flag.Bool("shrink", false, "make the worlds of -seed smaller that fail, one of each schedule")
	tries   = flag.Int("tries", 3, "how often a world lives until it is taken for one that does not fail")
)

// TestShrink makes worlds smaller that fail. Each try is a process of its own: so one that panics or hangs is a failure as all others, and each is the first
// world of its process, which repeats best.
func TestShrink(t *testing.T) {
	if !*smaller {
		t.Skip("only with -shrink: make world SEED=n SHRINK=1")
	}
	for _, name := range scheduled() {
		t.Run(name, func(t *testing.T) {
			shrinkOne(t, Config{Seed: *firstSeed, Schedule: name, Engine: *engines, Plan: plan(t)})
		})
	}
}

func shrinkOne(t *testing.T, cfg Config) {
	cfg.Plan = cfg.whole()
	first := trial{cfg: cfg}
	if !first.fails(t, cfg.Plan) {
		t.Logf("seed %d did not fail in %d tries", cfg.Seed, *tries)
		return
	}
	first.known = map[string]bool{}
	small := shrink(cfg.Plan, func(p Plan) bool { return first.fails(t, p) })
	t.Errorf("seed %d: %q, also with no more than this; again: %s", cfg.Seed, first.symptom, again(cfg, small))
}

// again is the command that repeats a world.
func again(cfg Config, p Plan) string {
	command := fmt.Sprintf("make world SEEDS=1 ONLY=%s SEED=%d TRACE=1", cfg.Schedule, cfg.Seed)
	if text := p.String(); text != "" {
		command += fmt.Sprintf(" PLAN='%s'", text)
	}
	return command
}

// trial finds out whether plans of a world fail in one way.
type trial struct {
	cfg     Config
	symptom string          // "" before the first that fails
	known   map[string]bool // what has become of plans
	worlds  int
}

// fails lets a world live until it fails, some times.
func (r *trial) fails(t *testing.T, p Plan) (failed bool) {
	if failed, known := r.known[p.String()]; known {
		return failed
	}
	for range *tries {
		r.worlds++
		out := r.live(p)
		if r.symptom == "" {
			r.symptom = symptomOf(out)
		}
		if failed = r.symptom != "" && strings.Contains(out, r.symptom); failed {
			t.Logf("after %d worlds it fails with %v", r.worlds, p)
			break
		}
	}
	if r.known != nil {
		r.known[p.String()] = failed
	}
	return failed
}

// live lets a world live in a process of its own, and returns what that says.
func (r *trial) live(p Plan) string {
	cmd := exec.Command(os.Args[0], "-test.run", "^TestWorlds$", "-test.timeout", "0", "-seeds", "1", "-seed", fmt.Sprint(r.cfg.Seed), "-schedule", r.cfg.Schedule,
		"-engine", r.cfg.Engine, "-hung", hung.String(), "-plan", p.String())
	out, err := cmd.CombinedOutput()
	if err == nil {
		return ""
	}
	return string(out)
}

// symptoms are how worlds fail, the most telling ones first.
var symptoms = []string{"is not built on the other", "not linearizable", ErrDiverged.Error(), "were not closed", "has not formed", "gossip: after", "the checker ran out of time",
	"the world of schedule", "WARNING: DATA RACE", "panic: ", "fatal error: ", "is wrong", "FAIL"}

// symptomOf says how a world has failed whose test says this.
func symptomOf(out string) string {
	for _, s := range symptoms {
		if strings.Contains(out, s) {
			return s
		}
	}
	return ""
}
