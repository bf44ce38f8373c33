package world

import (
	"cmp"
	"errors"
	"flag"
	"fmt"
	"log/slog"
	"os"
	"runtime"
	"runtime/debug"
	"runtime/pprof"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"testing/cryptotest"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	seeds     = flag.Int("seeds", 0, "worlds, spread over the schedules (0: one of each)")
	firstSeed = flag.Uint64("seed", 1, "first seed of every schedule")
	only      = flag.String("schedule", "", "only these schedules, separated by commas")
	engines   = flag.String("engine", "", "memory, disk or pebble, not what the seed says, where that is possible")
	length    = flag.Duration("for", 0, "for how long clients work in each world, by its clock")
	show      = flag.Bool("trace", false, "print what happened in each world")
	logs      = flag.Bool("logs", false, "print what the product logs")
	hung      = flag.Duration("hung", 6*time.Minute, "after what real time a world is taken for hung")
)

// TestMain gives the worlds one processor: with more, hardly any seed gives the same world twice. A panic shows all goroutines: the seed is the
// first number that one is called with.
func TestMain(m *testing.M) {
	runtime.GOMAXPROCS(1)
	debug.SetTraceback("all")
	os.Exit(m.Run())
}

// checkFor bounds how long the checker works on one key.
const checkFor = 5 * time.Second

// TestWorlds lets worlds live, each by its seed. One that fails is printed with the command that repeats it.
func TestWorlds(t *testing.T) {
	if testing.Short() && *length == 0 {
		*length = 2 * time.Second
	}
	names := scheduled()
	each := max(1, *seeds/len(names))
	for _, name := range names {
		t.Run(name, func(t *testing.T) {
			runAll(t, name, each)
			t.Logf("%v", &sum)
		})
	}
}

// scheduled are the schedules that are wanted.
func scheduled() []string {
	if *only != "" {
		return strings.Split(*only, ",")
	}
	return Schedules()
}

// plan is what there is to be of each world.
func plan(t *testing.T) Plan {
	p, err := ParsePlan(*planned)
	require.NoError(t, err)
	p.For = cmp.Or(p.For, *length)
	return p
}

// runAll lets worlds of one schedule live, until one fails.
func runAll(t *testing.T, schedule string, worlds int) {
	for i := range worlds {
		if t.Failed() {
			return
		}
		sum.add(one(t, Config{Seed: *firstSeed + uint64(i), Schedule: schedule, Engine: *engines, Plan: plan(t)}))
	}
}

// one is the life of one world, and its judgement.
func one(t *testing.T, cfg Config) *World {
	if *logs {
		cfg.Log = slog.NewTextHandler(os.Stderr, &slog.HandlerOptions{Level: slog.LevelDebug})
	}
	ended := watch(cfg)
	cryptotest.SetGlobalRandom(t, cfg.Seed) // the patience of the Raft library
	var w *World
	var failure error
	synctest.Test(t, func(*testing.T) { w, failure = Live(cfg) })
	close(ended)
	result := w.Check(checkFor)
	sum.overlaps += result.Overlaps
	sum.compared += w.replicas.check.Pairs()
	failure = errors.Join(failure, result.Err())
	if *show || failure != nil {
		t.Logf("%s", w.Trace())
	}
	if *show {
		t.Logf("%s %d: %v; %v", cfg.Schedule, cfg.Seed, w, result)
	}
	if failure != nil {
		t.Errorf("seed %d is wrong; %v; again: %s; with SHRINK=1 it is made smaller", cfg.Seed, failure, again(cfg, cfg.Plan))
	}
	return w
}

// watch ends the process when a world stands still: its time does not go on while something runs, or waits for a lock.
func watch(cfg Config) (ended chan struct{}) {
	ended = make(chan struct{})
	go func() {
		select {
		case <-ended:
		case <-time.After(*hung):
			fmt.Fprintf(os.Stderr, "the world of schedule %s with seed %d hangs\n", cfg.Schedule, cfg.Seed)
			_ = pprof.Lookup("goroutine").WriteTo(os.Stderr, 2)
			os.Exit(2)
		}
	}()
	return ended
}

// sum is the sum over all worlds.
var sum = tally{began: time.Now()}

type tally struct {
	mu                                     sync.Mutex
	began                                  time.Time
	worlds                                 int
	simulated                              time.Duration
	operations, answered, refused, unknown int64
	events                                 int64
	overlaps, compared                     int
}

func (y *tally) add(w *World) {
	y.mu.Lock()
	defer y.mu.Unlock()
	y.worlds++
	y.simulated += w.stats.Simulated
	y.operations += w.stats.Operations.Load()
	y.answered += w.stats.Answered.Load()
	y.refused += w.stats.Refused.Load()
	y.unknown += w.stats.Unknown.Load()
	y.events += w.stats.Events.Load()
}

func (y *tally) String() string {
	y.mu.Lock()
	defer y.mu.Unlock()
	var usage syscall.Rusage
	_ = syscall.Getrusage(syscall.RUSAGE_SELF, &usage)
	worked := time.Duration(usage.Utime.Nano() + usage.Stime.Nano()).Seconds()
	simulated, worlds := y.simulated.Seconds(), float64(y.worlds)
	return fmt.Sprintf(`%d worlds, %.0f s in them, in %.1f s and %.1f s of processor time: %.0f simulated seconds in one of a processor
a world: %.0f s, %.0f events, %.0f operations, %.0f pairs overlapped; a second of a processor: %.1f events, %.0f operations, %.0f pairs
%d operations: %d answered, %d refused, %d of unknown outcome; %d pairs of readable versions compared`,
		y.worlds, simulated, time.Since(y.began).Seconds(), worked, simulated/worked,
		simulated/worlds, float64(y.events)/worlds, float64(y.operations)/worlds, float64(y.overlaps)/worlds,
		float64(y.events)/worked, float64(y.operations)/worked, float64(y.overlaps)/worked,
		y.operations, y.answered, y.refused, y.unknown, y.compared)
}

// TestHowOftenASeedRepeats lets each of some worlds live twice, and counts how many of the pairs have one trace. Go's scheduler is not ours, so
// that it is no fault when few do: the number is for the package's comment.
func TestHowOftenASeedRepeats(t *testing.T) {
	if *seeds == 0 {
		t.Skip("only with -seeds")
	}
	for _, name := range Schedules() {
		same, common := 0, 0.0
		for i := range *seeds {
			cfg := Config{Seed: *firstSeed + uint64(i), Schedule: name, Plan: plan(t)}
			a, b := one(t, cfg), one(t, cfg)
			if a.trace.hash() == b.trace.hash() {
				same++
			}
			common += commonPrefix(a, b)
		}
		t.Logf("%s: %d of %d seeds gave the same trace twice; the same events began %.1f %% of the time", name, same, *seeds, 100*common/float64(*seeds))
	}
}

// commonPrefix returns the part of the traces' time until which they are the same.
func commonPrefix(a, b *World) float64 {
	left, right := a.trace.sorted(), b.trace.sorted()
	n := 0
	for n < min(len(left), len(right)) && left[n] == right[n] {
		n++
	}
	if n == len(left) {
		return 1
	}
	return float64(left[n].at) / float64(left[len(left)-1].at)
}

func TestSchedulesHaveNames(t *testing.T) {
	if names := Schedules(); !slices.IsSorted(names) || len(names) < 4 {
		t.Errorf("%v", names)
	}
}
