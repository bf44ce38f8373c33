package main

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// measure is one measurement. Latencies and CPU time are in microseconds.
type measure struct {
	System     string  `json:"system"`
	Round      int     `json:"round"`
	Op         string  `json:"op"`
	Depth      int     `json:"depth"`
	Operations int64   `json:"operations"`
	Errors     int64   `json:"errors"`
	Missing    int64   `json:"missing"`
	Wrong      int64   `json:"wrong,omitempty"` // with --check
	Throughput float64 `json:"operations_per_second"`
	P50        float64 `json:"p50_us"`
	P99        float64 `json:"p99_us"`
	P999       float64 `json:"p99_9_us"`
	CPU        float64 `json:"cpu_us_per_operation"`
	// Others is the share of all cores that went to programs which have nothing to do with the measurement.
	Others float64 `json:"others_share_of_cores"`
	// LastError is the text of the last answer that was an error.
	LastError string `json:"last_error,omitempty"`
	// generator is the CPU time of the load generator.
	generator time.Duration
}

// measureAll does all rounds. What one system cannot do does not keep the others from being measured.
func (p *plan) measureAll(ctx context.Context) (all []measure, err error) {
	for _, why := range p.missing {
		fmt.Fprintln(os.Stderr, "left out:", why)
	}
	for round := 1; round <= p.rounds; round++ {
		for i := range p.systems {
			s := p.systems[(i+round-1)%len(p.systems)]
			fmt.Fprintf(os.Stderr, "round %d of %d: %s\n", round, p.rounds, s.title)
			measured, failed := p.turn(ctx, s, round)
			all = append(all, measured...)
			if ctx.Err() != nil {
				return all, ctx.Err()
			}
			if failed != nil {
				fmt.Fprintf(os.Stderr, "  failed: %v\n", failed)
				err = errors.Join(err, fmt.Errorf("round %d, %s: %w", round, s.name, failed))
			}
		}
	}
	return all, err
}

// turn measures a system in one round.
func (p *plan) turn(ctx context.Context, s system, round int) (all []measure, err error) {
	err = p.visit(ctx, s, 64, func(_ *site, _ target, m measure) error {
		m.System, m.Round = s.name, round
		fmt.Fprintf(os.Stderr, "  %s, depth %d: %.0f/s, p99.9 %s, %.1f µs of CPU each\n", m.Op, m.Depth, m.Throughput, inUnits(m.P999), m.CPU)
		all = append(all, m)
		return nil
	})
	return all, err
}

// at starts a system, does something with it, and stops it.
func (p *plan) at(ctx context.Context, s system, do func(*site, target) error) (err error) {
	site, err := p.newSite()
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, site.close()) }()
	to, err := s.start(ctx, site)
	if err != nil {
		return err
	}
	return do(site, to)
}

// load fills a system, with pipelines of a depth.
func (p *plan) load(ctx context.Context, s system, to target, depth int, args ...string) error {
	loaded, err := p.bench(ctx, to, append([]string{"--workload", "load", "--depth", strconv.Itoa(depth)}, args...)...)
	if err == nil && loaded.Errors > 0 { // some keys may be missing
		fmt.Fprintf(os.Stderr, "  %s: %d errors while the keys were written for the first time, the last one: %s\n", s.name, loaded.Errors, loaded.LastError)
	}
	return err
}

// visit starts a system, fills it with pipelines of a depth, calls each with every measurement of it, and stops it.
func (p *plan) visit(ctx context.Context, s system, loadDepth int, each func(*site, target, measure) error) error {
	return p.at(ctx, s, func(site *site, to target) error {
		if err := p.load(ctx, s, to, loadDepth); err != nil {
			return err
		}
		for _, op := range []string{"SET", "GET"} {
			if op == "GET" && s.setsOnly {
				continue
			}
			for _, depth := range p.depths {
				m, err := site.measure(ctx, to, op, depth)
				if err != nil {
					return err
				}
				if err := each(site, to, m); err != nil {
					return err
				}
			}
		}
		return nil
	})
}

// measure takes one measurement of a system that runs.
func (s *site) measure(ctx context.Context, to target, op string, depth int, args ...string) (measure, error) {
	return s.measureFor(ctx, to, op, depth, append([]string{"--duration", s.duration.String()}, args...)...)
}

// measureFor takes one measurement that is as long as the arguments say.
func (s *site) measureFor(ctx context.Context, to target, op string, depth int, args ...string) (measure, error) {
	before, err := cpuOf(s.processes)
	if err != nil {
		return measure{}, err
	}
	all, err := busy()
	if err != nil {
		return measure{}, err
	}
	began := time.Now()
	m, err := s.bench(ctx, to, append([]string{"--commands", op, "--no-load", "--depth", strconv.Itoa(depth)}, args...)...)
	if err != nil {
		return measure{}, err
	}
	elapsed := time.Since(began)
	after, err := cpuOf(s.processes)
	if err != nil {
		return measure{}, err
	}
	allAfter, err := busy()
	m.Op, m.Depth = op, depth
	m.CPU = float64(after-before) / float64(time.Microsecond) / float64(max(1, m.Operations))
	others := allAfter - all - (after - before) - m.generator
	m.Others = max(0, float64(others)/float64(elapsed)/float64(runtime.NumCPU()))
	return m, err
}

// bench runs quoll bench to its end. Answers that were errors do not end the comparison: they are counted and shown.
func (p *plan) bench(ctx context.Context, to target, args ...string) (measure, error) {
	args = append([]string{
		"bench", "--addr", strings.Join(to.addresses, ","), "--connections", strconv.Itoa(p.connections), "--keys", strconv.Itoa(p.keys),
		"--value-size", strconv.Itoa(p.value), "-o", "json",
	}, append(args, to.args...)...)
	var out, errs bytes.Buffer
	cmd := exec.CommandContext(ctx, p.quoll, args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGINT) }
	cmd.WaitDelay = 5 * time.Second
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), p.environment()...), &out, &errs
	failed := startOn(p.cores, p.generatorEnd(), cmd.Start)
	if failed == nil {
		failed = cmd.Wait()
	}
	var report struct {
		Rows      []measure `json:"rows"`
		LastError string    `json:"last_error"`
	}
	if err := json.Unmarshal(out.Bytes(), &report); err != nil || len(report.Rows) == 0 || ctx.Err() != nil {
		lines := strings.Split(strings.TrimSpace(errs.String()), "\n")
		return measure{}, fmt.Errorf("quoll bench: %w: %s", errors.Join(failed, err, ctx.Err()), lines[len(lines)-1])
	}
	m := report.Rows[len(report.Rows)-1] // that of all together, if there are several
	m.LastError, m.generator = report.LastError, cmd.ProcessState.UserTime()+cmd.ProcessState.SystemTime()
	return m, nil
}
