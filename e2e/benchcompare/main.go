// Benchcompare does the same work with `quoll bench` against Quoll and against whatever it finds installed of what people compare it
// with, in turns, and writes a table (Markdown) and plots (SVG) of throughput, latency and CPU time:
//
//	make bench-compare                          or: go run ./e2e/benchcompare
//	make bench-compare KEYS=100000 SECONDS=2    quickly
//	make bench-scale                            Quoll beside one redis-server, as the number of keys grows, or of connections, or ... (scale.go)
//	make bench-hash                             hashes beside strings, and hashes that grow (hash.go)
//	make bench-types                            lists, sets and sorted sets, small and large, beside strings, and their memory (types.go)
//	make bench-messages                         messages, hand-overs with BLPOP, and streams, beside strings (messages.go)
//	make bench-guard                            fails if SET or GET cost more than is recorded (guard.go)
//	make bench-disk                             nodes that keep their data on disk (disk.go)
//	make bench-budget                           where the CPU time of SET and GET goes (budget.go)
//
// Every system is started afresh in each round, on free ports of 127.0.0.1 (systems.go says how), filled with all keys, measured with writes
// and reads at each depth, and stopped before the next one begins. In each round another one is the first. CPU time is that of all server
// processes, user and system, from /proc.
package main

import (
	"cmp"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// plan is what is to be done.
type plan struct {
	quoll                    string // the binary
	out                      string // the directory for results
	keys, rounds             int
	connections, value       int
	nodes, replicas          int // of Quoll, its own if 0
	scales                   bool
	hashes, types            bool
	pushes                   bool // messages, and what waits
	guards, records, budgets bool
	scalesCores              bool
	disks                    bool
	cases                    []string // of -disk, all if nil
	fsync                    string   // of Quoll's nodes on disk, theirs if ""
	cache                    int      // bytes, so, too
	loaded                   bool     // measure though the machine is
	cores                    int      // that the servers may use, 0 for all
	page                     string   // that tables are written into, "" for none
	recorded                 string   // the file that -guard compares with
	sizes                    []int    // of hashes that grow, or of keys of other types
	filled                   int      // elements that memory is measured of, 0: it is not measured
	engine                   string   // of the servers that hold data, memory if ""
	maxBulk                  string   // of Quoll's processes, theirs if ""
	maxCollection            string   // so, too
	duration                 time.Duration
	depths                   []int
	systems                  []system
	missing                  []string // why others are left out
	date                     time.Time
	machine, procs, cmd      string
}

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM, syscall.SIGHUP)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "benchcompare:", err)
		stop()
		os.Exit(1)
	}
}

func run(ctx context.Context) error {
	p, err := newPlan(ctx)
	if err != nil {
		return err
	}
	if err := p.awaitQuiet(ctx, 30*time.Second); err != nil {
		return err
	}
	switch {
	case p.scales:
		return conclude(ctx, p.scaleAll, p.writeScale)
	case p.hashes:
		return conclude(ctx, p.hashAll, p.writeHash)
	case p.types:
		return conclude(ctx, p.typesAll, p.writeTypes)
	case p.pushes:
		return conclude(ctx, p.messagesAll, p.writeMessages)
	case p.guards:
		return p.guard(ctx)
	case p.budgets:
		return conclude(ctx, p.budgetAll, p.writeBudget)
	case p.scalesCores:
		return conclude(ctx, p.coresAll, p.writeCores)
	case p.disks:
		return conclude(ctx, p.diskAll, p.writeDisk)
	}
	return conclude(ctx, p.measureAll, p.write)
}

// conclude writes what was measured, though it may not be all.
func conclude[T any](ctx context.Context, measure func(context.Context) ([]T, error), write func([]T) error) error {
	results, err := measure(ctx)
	if ctx.Err() != nil {
		err = errors.New("interrupted; all servers are stopped")
	}
	if len(results) > 0 {
		err = errors.Join(err, write(results))
	}
	return err
}

// newPlan reads the flags and looks at what is installed.
func newPlan(ctx context.Context) (*plan, error) {
	p := &plan{date: time.Now()}
	seconds := flag.Float64("seconds", 10, "how long each measurement takes")
	depths := flag.String("depths", "1,16,64", "commands in a pipeline")
	only := flag.String("only", "", "measure only these systems besides quoll, separated by commas: nodes, redis, wait, nutcracker, cluster")
	flag.StringVar(&p.quoll, "quoll", "bin/quoll", "the binary (make build)")
	flag.StringVar(&p.out, "out", "bin/bench-compare", "the directory for results")
	flag.IntVar(&p.keys, "keys", 1_000_000, "number of keys")
	flag.IntVar(&p.rounds, "rounds", 3, "repetitions")
	flag.IntVar(&p.connections, "connections", 50, "number of connections")
	flag.IntVar(&p.value, "value-size", 64, "bytes of a value")
	flag.BoolVar(&p.scales, "scale", false, "let one thing grow after the other (see scale.go); -depths and -rounds mean nothing then, and -only is redis")
	flag.BoolVar(&p.hashes, "hash", false, "measure hashes (see hash.go); -only is redis")
	flag.BoolVar(&p.types, "types", false, "measure lists, sets and sorted sets (see types.go); -only is redis")
	flag.BoolVar(&p.pushes, "messages", false, "measure messages, hand-overs and streams (see messages.go); -only is redis")
	flag.BoolVar(&p.guards, "guard", false, "compare the CPU time of SET and GET with what is recorded (see guard.go); -only is redis, and keys and rounds are fixed")
	flag.BoolVar(&p.budgets, "budget", false, "show where the CPU time of SET and GET goes (see budget.go); -only is redis")
	flag.BoolVar(&p.scalesCores, "cores", false, "let the servers use more and more cores (see cores.go); -rounds means nothing then, and -only is redis")
	flag.BoolVar(&p.disks, "disk", false, "measure nodes that keep their data on disk (see disk.go); -only and -value-size mean nothing then")
	cases := flag.String("cases", "", "cases of -disk, separated by commas: "+strings.Join(diskNames(), ", ")+" (default: all)")
	flag.BoolVar(&p.loaded, "loaded", false, "measure though other programs have much of the machine")
	flag.StringVar(&p.page, "page", "", "the page that tables are written into, too, and its plots into the directory of its name: without -guard, -hash, -types and -messages")
	flag.StringVar(&p.recorded, "recorded", "e2e/benchcompare/recorded.json", "the file that -guard compares with")
	flag.BoolVar(&p.records, "record", false, "-guard writes that file anew")
	sizes := flag.String("sizes", "", "fields of hashes that grow (10,1000,100000,1000000), or elements of other keys (10,1000000)")
	flag.IntVar(&p.filled, "filled", 10_000_000, "elements that -types measures the memory of; 0: none")
	flag.StringVar(&p.engine, "engine", memoryEngine, "engine of Quoll's nodes for -types: memory, badger or pebble; for -disk badger (if it is memory) or pebble")
	flag.Parse()
	command, keys, rounds := "bench-compare", "KEYS", fmt.Sprintf(" ROUNDS=%d", p.rounds)
	switch {
	case p.scales:
		command, rounds, *only = "bench-scale", "", redisName
	case p.hashes:
		command, keys, *only = "bench-hash", "HASHES", redisName
		*sizes = cmp.Or(*sizes, "10,1000,100000,1000000")
	case p.types:
		command, keys, *only = "bench-types", "HASHES", redisName
		*sizes = cmp.Or(*sizes, "10,1000000")
	case p.pushes:
		command, *only = "bench-messages", redisName
	case p.guards:
		command, *only = "bench-guard", redisName
	case p.budgets:
		command, rounds, *only = "bench-budget", "", redisName
	case p.scalesCores:
		command, rounds, *only = "bench-cores", "", redisName
	case p.disks:
		command, *only = "bench-disk", redisName
		p.cases = strings.FieldsFunc(*cases, func(r rune) bool { return r == ',' })
	}
	p.duration = time.Duration(*seconds * float64(time.Second))
	var err error
	if p.depths, err = numbers("depths", *depths); err != nil {
		return nil, err
	}
	if *sizes != "" {
		if p.sizes, err = numbers("sizes", *sizes); err != nil {
			return nil, err
		}
	}
	modes := 0
	for _, mode := range []bool{p.scales, p.hashes, p.types, p.pushes, p.guards, p.budgets, p.scalesCores, p.disks} {
		if mode {
			modes++
		}
	}
	switch {
	case modes > 1:
		return nil, errors.New("-scale, -hash, -types, -messages, -guard, -budget, -cores and -disk are different things: give one")
	case slices.ContainsFunc(p.cases, func(name string) bool { return !slices.Contains(diskNames(), name) }):
		return nil, fmt.Errorf("-cases: %q are some of %s", *cases, strings.Join(diskNames(), ", "))
	case p.filled < 0 || p.filled > 0 && p.filled < 100:
		return nil, errors.New("-filled must be at least 100, or 0")
	case flag.NArg() > 0:
		return nil, fmt.Errorf("unknown argument %q", flag.Arg(0))
	case p.keys < 3 || p.rounds < 1 || p.connections < 3:
		return nil, errors.New("-keys and -connections must be at least 3, -rounds at least 1")
	case p.duration < 100*time.Millisecond:
		return nil, errors.New("-seconds must be at least 0.1")
	}
	absolute, err := filepath.Abs(p.quoll)
	if err != nil {
		return nil, err
	}
	p.quoll = absolute
	if _, err := os.Stat(p.quoll); err != nil {
		return nil, fmt.Errorf("%s is not there: run 'make build' first", p.quoll)
	}
	p.cmd = fmt.Sprintf("make %s %s=%d SECONDS=%g%s%s", command, keys, p.keys, *seconds, rounds, moreFlags())
	if err := p.choose(ctx, *only); err != nil {
		return nil, err
	}
	p.limitProcs()
	p.machine = machine()
	return p, nil
}

// numbers reads a flag that is a list of numbers of something.
func numbers(name, list string) (all []int, err error) {
	for _, text := range strings.Split(list, ",") {
		n, err := strconv.Atoi(text)
		if err != nil || n < 1 {
			return nil, fmt.Errorf("-%s: %q is not a number above 0", name, text)
		}
		all = append(all, n)
	}
	return all, nil
}

// moreFlags are those that were given and have no variable of their own in the Makefile.
func moreFlags() string {
	var more []string
	flag.Visit(func(f *flag.Flag) {
		switch f.Name {
		case "keys", "seconds", "rounds", "out", "quoll", "scale", "hash", "types", "messages", "guard", "recorded", "record", "budget", "cores", "disk", "page":
		default:
			more = append(more, "-"+f.Name+" "+f.Value.String())
		}
	})
	if more == nil {
		return ""
	}
	return fmt.Sprintf(" FLAGS=%q", strings.Join(more, " "))
}

// choose takes the systems that are installed, and of these, if only names some, just them and Quoll.
func (p *plan) choose(ctx context.Context, only string) error {
	names := strings.FieldsFunc(only, func(r rune) bool { return r == ',' })
	for _, name := range names {
		if !slices.ContainsFunc(systems, func(s system) bool { return s.name == name }) {
			return fmt.Errorf("-only: there is no system %q", name)
		}
	}
	for _, s := range systems {
		if len(names) > 0 && s.name != quollName && !slices.Contains(names, s.name) {
			continue
		}
		if missing := s.missing(); missing != "" {
			p.missing = append(p.missing, fmt.Sprintf("%s: %s is not installed", s.name, missing))
			continue
		}
		s.version = s.versionOf(ctx, p)
		p.systems = append(p.systems, s)
	}
	return nil
}
