package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"time"
)

// With -hash two questions are asked. Does a field of a small hash cost what a string costs? Both are measured in turn on the same servers, and so
// on a redis-server. And does it cost the same in a large hash? One field is written, and read, in a few hashes of ever more fields, by all
// engines, at depth 1.

// smallFields is how many fields a small hash has, fewHashes how many hashes there are of those that grow.
const (
	smallFields = 10
	fewHashes   = 4
)

// longestHash is what Quoll is told that a value, which a hash is, may take: 10^6 fields take more than it has by default.
const longestHash = "100MiB"

// engines are those of Quoll that are measured with hashes that grow, and what a redis-server has instead.
var (
	engines      = []string{memoryEngine, "badger"}
	redisEngines = []string{memoryEngine, appendOnly}
)

// The parts of what -hash measures.
const (
	small   = "small"
	growing = "growing"
)

// hashPoint is one measurement of hashes, or of strings beside them.
type hashPoint struct {
	Part string `json:"part"`
	// Engine is that of the servers that hold data.
	Engine string `json:"engine"`
	// Fields is how many a hash has, 0 for strings.
	Fields int `json:"fields"`
	measure
	// NodeCPU is the CPU time of all servers that hold data, in microseconds for each operation. Written is what they have written to disks, in bytes
	// for each operation.
	NodeCPU float64 `json:"node_cpu_us_per_operation"`
	Written float64 `json:"written_bytes_per_operation"`
}

// attempts returns what measures something, unless ctx has ended, and adds the points to all, and a failure, which does not keep the rest from being measured, to err.
func attempts[P any](ctx context.Context, all *[]P, err *error) func(what string, of func() ([]P, error)) {
	return func(what string, of func() ([]P, error)) {
		if ctx.Err() != nil {
			return
		}
		fmt.Fprintln(os.Stderr, what)
		points, failed := of()
		*all = append(*all, points...)
		if failed != nil {
			fmt.Fprintf(os.Stderr, "  failed: %v\n", failed)
			*err = errors.Join(*err, fmt.Errorf("%s: %w", what, failed))
		}
	}
}

// hashAll measures both parts. What cannot be done does not keep the rest from being measured.
func (p *plan) hashAll(ctx context.Context) (all []hashPoint, err error) {
	attempt := attempts(ctx, &all, &err)
	for round := 1; round <= p.rounds; round++ {
		for i := range p.systems {
			s := p.systems[(i+round-1)%len(p.systems)]
			attempt(fmt.Sprintf("small hashes, round %d of %d: %s", round, p.rounds, s.title), func() ([]hashPoint, error) { return p.smallHashes(ctx, s, round) })
		}
	}
	for _, s := range p.systems {
		for _, engine := range s.engines() {
			for _, fields := range append([]int{0}, p.sizes...) {
				attempt(fmt.Sprintf("%d fields: %s %s", fields, s.name, engine), func() ([]hashPoint, error) { return p.growingHashes(ctx, s, engine, fields) })
			}
		}
	}
	return all, err
}

// engines are those with which a system is measured.
func (s *system) engines() []string {
	if s.name == quollName {
		return engines
	}
	return redisEngines
}

// smallHashes measures strings and hashes in turn on one system.
func (p *plan) smallHashes(ctx context.Context, s system, round int) (points []hashPoint, err error) {
	hashes := []string{"--fields", strconv.Itoa(smallFields)}
	err = p.at(ctx, s, func(site *site, to target) error {
		for _, load := range [][]string{{"--commands", "set"}, append([]string{"--commands", "hset"}, hashes...)} {
			if err := p.load(ctx, s, to, 16, load...); err != nil {
				return err
			}
		}
		for _, depth := range p.depths {
			for _, op := range []string{"SET", "HSET", "GET", "HGET"} {
				m, err := site.measure(ctx, to, op, depth, hashes...)
				if err != nil {
					return err
				}
				pt := hashPoint{Part: small, Engine: memoryEngine, measure: m}
				pt.System, pt.Round = s.name, round
				if strings.HasPrefix(op, "H") {
					pt.Fields = smallFields
				}
				fmt.Fprintf(os.Stderr, "  %s, depth %d: %.0f/s, p99.9 %s, %.1f µs of CPU each\n", op, depth, m.Throughput, inUnits(m.P999), m.CPU)
				points = append(points, pt)
			}
		}
		return nil
	})
	return points, err
}

// growingHashes measures one field of a few hashes with some fields, or as many strings if there are none.
func (p *plan) growingHashes(ctx context.Context, s system, engine string, fields int) (points []hashPoint, err error) {
	changed := *p
	changed.engine, changed.keys, changed.maxBulk = engine, fewHashes, longestHash
	args, ops := []string{"--fields", strconv.Itoa(max(1, fields))}, []string{"HSET", "HGET"}
	if fields == 0 {
		ops = []string{"SET", "GET"}
	}
	err = changed.at(ctx, s, func(site *site, to target) error {
		if err := changed.load(ctx, s, to, 1, append([]string{"--commands", ops[0]}, args...)...); err != nil {
			return err
		}
		for _, op := range ops {
			pt, err := site.measureCost(ctx, to, op, args...)
			if err != nil {
				return err
			}
			pt.System, pt.Round, pt.Engine, pt.Fields = s.name, 1, engine, fields
			fmt.Fprintf(os.Stderr, "  %s: %.0f/s, p99 %s, %.1f µs of CPU and %.0f B to disks each\n", op, pt.Throughput, inUnits(pt.P99), pt.NodeCPU, pt.Written)
			points = append(points, pt)
		}
		return nil
	})
	return points, err
}

// measureCost measures an operation at depth 1, and what it costs the servers that hold the data. What they do later because of it counts, too.
func (s *site) measureCost(ctx context.Context, to target, op string, args ...string) (hashPoint, error) {
	if _, err := s.settle(ctx); err != nil {
		return hashPoint{}, err
	}
	cpu, err := cpuOf(s.holders())
	if err != nil {
		return hashPoint{}, err
	}
	written, err := s.written()
	if err != nil {
		return hashPoint{}, err
	}
	m, err := s.measure(ctx, to, op, 1, args...)
	if err != nil {
		return hashPoint{}, err
	}
	writtenAfter, err := s.settle(ctx)
	if err != nil {
		return hashPoint{}, err
	}
	cpuAfter, err := cpuOf(s.holders())
	each := float64(max(1, m.Operations))
	return hashPoint{
		Part: growing, measure: m, NodeCPU: float64(cpuAfter-cpu) / float64(time.Microsecond) / each, Written: float64(writtenAfter-written) / each,
	}, err
}

// How long servers have to write nothing to be done with it, and how long that is waited for.
const (
	settled        = 2 * time.Second
	settlePatience = 30 * time.Second
	settleInterval = 250 * time.Millisecond
)

// settle waits until servers write nothing more to disks, and returns how much they have written.
func (s *site) settle(ctx context.Context) (written int64, err error) {
	if !s.onDisk() {
		return s.written()
	}
	began, changed := time.Now(), time.Now()
	for time.Since(changed) < settled && time.Since(began) < settlePatience {
		now, err := s.written()
		if err != nil {
			return 0, err
		}
		if now != written {
			written, changed = now, time.Now()
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(settleInterval):
		}
	}
	return written, nil
}
