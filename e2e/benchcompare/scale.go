package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
)

// sweep changes one thing and leaves all others, to show where the curve has knees.
type sweep struct {
	name, title string
	values      []int
	depths      []int
	onlyQuoll   bool // it means nothing to a single redis-server
	set         func(p *plan, value int)
}

// sweepBytes bounds what large values take together: there are fewer keys then.
const sweepBytes = 256 << 20

// sweeps are all that -scale measures.
var sweeps = []sweep{
	{name: "keys", title: "number of keys", values: []int{10_000, 100_000, 1_000_000, 10_000_000}, depths: []int{1, 16},
		set: func(p *plan, value int) { p.keys = value }},
	{name: "connections", title: "number of connections", values: []int{1, 5, 50, 500, 5000}, depths: []int{1, 16},
		set: func(p *plan, value int) { p.connections = value }},
	{name: "value size", title: "bytes of a value", values: []int{16, 64, 256, 1 << 10, 4 << 10, 16 << 10, 64 << 10, 256 << 10, 1 << 20}, depths: []int{1},
		set: func(p *plan, value int) { p.value, p.keys = value, min(p.keys, sweepBytes/value) }},
	{name: "nodes", title: "number of nodes (three copies of every key)", values: []int{3, 5, 7}, depths: []int{1, 16}, onlyQuoll: true,
		set: func(p *plan, value int) { p.nodes = value }},
}

// point is what was measured of one system at one value of a sweep.
type point struct {
	Sweep string `json:"sweep"`
	Value int    `json:"value"`
	measure
	// Memory is the resident memory of all servers with data, in bytes for each copy of a key.
	Memory float64 `json:"memory_bytes_per_copy"`
	// GC is the garbage collector's share of the CPU time of Quoll's nodes since their start: it may not collect at all while one
	// thing is measured.
	GC float64 `json:"gc_share_of_cpu"`
}

// scaleAll measures Quoll and, beside it, a redis-server at every value of every sweep. What cannot be done once does not keep the
// rest from being measured.
func (p *plan) scaleAll(ctx context.Context) (all []point, err error) {
	for _, sw := range sweeps {
		for _, value := range sw.values {
			for _, s := range p.systems {
				if s.name != quollName && sw.onlyQuoll {
					continue
				}
				fmt.Fprintf(os.Stderr, "%s: %d, %s\n", sw.title, value, s.name)
				points, failed := p.scale(ctx, s, sw, value)
				all = append(all, points...)
				if ctx.Err() != nil {
					return all, ctx.Err()
				}
				if failed != nil {
					fmt.Fprintf(os.Stderr, "  failed: %v\n", failed)
					err = errors.Join(err, fmt.Errorf("%s %d, %s: %w", sw.name, value, s.name, failed))
				}
			}
		}
	}
	return all, err
}

// scale measures a system at one value of a sweep.
func (p *plan) scale(ctx context.Context, s system, sw sweep, value int) (points []point, err error) {
	changed := *p
	changed.depths = sw.depths
	sw.set(&changed, value)
	err = changed.visit(ctx, s, max(1, min(64, 64<<10/changed.value)), func(site *site, to target, m measure) error {
		collecting, err := collectingShare(ctx, to.metrics)
		if err != nil {
			return err
		}
		memory, err := site.memory()
		if err != nil {
			return err
		}
		m.System, m.Round = s.name, 1
		at := point{Sweep: sw.name, Value: value, measure: m, Memory: float64(memory) / float64(changed.keys*max(1, to.copies)), GC: collecting}
		fmt.Fprintf(os.Stderr, "  %s, depth %d: %.0f/s, p99.9 %s, %.0f B for a copy of a key, collecting %.1f %%\n", m.Op, m.Depth, m.Throughput, inUnits(m.P999), at.Memory, 100*at.GC)
		points = append(points, at)
		return nil
	})
	return points, err
}

// findPoint returns a point, if it was measured.
func findPoint(points []point, sweep, system, op string, depth, value int) (point, bool) {
	i := slices.IndexFunc(points, func(pt point) bool {
		return pt.Sweep == sweep && pt.System == system && pt.Op == op && pt.Depth == depth && pt.Value == value
	})
	if i < 0 {
		return point{}, false
	}
	return points[i], true
}
