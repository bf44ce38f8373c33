package main

import (
	"context"
	"fmt"
	"os"
	"slices"

	"golang.org/x/sys/unix"
)

// diskCase is one comparison of what nodes do that keep their data on disk. Both sides run at the same time, so that they are filled once, and are measured in turns.
type diskCase struct {
	name, title string
	ours, peer  diskSide
	value       int      // bytes
	data        int      // bytes of all values together
	args        []string // of quoll bench
	// wanted is what was aimed at: our throughput divided by the peer's. It is meant at depth 1, or at all depths.
	wanted    map[string]float64
	allDepths bool
}

// diskSide is who is measured, and how it differs from what systems says.
type diskSide struct {
	system string
	set    func(p, changed *plan) // p is what was asked for; nil if there is no difference
}

const (
	lazily   = "interval=100ms" // --fsync of nodes beside a redis-server that saves nothing
	kibibyte = 1 << 10
	mebibyte = 1 << 20
	leastOf  = 64 << 20 // the least --cache
	diskData = 256 << 20
)

// nodesOnDisk are so many nodes, each with a copy of every key.
func nodesOnDisk(nodes int, fsync string) diskSide {
	return diskSide{quollName, func(p, changed *plan) { changed.engine, changed.replicas, changed.fsync = p.diskEngine(), nodes, fsync }}
}

var (
	redisInMemory = diskSide{redisName, func(_, changed *plan) { changed.engine = "" }}
	redisOnDisk   = diskSide{redisName, func(_, changed *plan) { changed.engine = appendOnly }}
	nodesInMemory = diskSide{quollName, func(_, changed *plan) { changed.engine = memoryEngine }}
)

// diskCases are all that -disk measures.
var diskCases = []diskCase{
	{name: "one", title: "one node, one copy, `--fsync interval=100ms`, beside a redis-server that saves nothing; values of 1 KiB",
		ours: nodesOnDisk(1, lazily), peer: redisInMemory, value: kibibyte, data: diskData, wanted: map[string]float64{"SET": 0.76, "GET": 0.975}},
	{name: "large", title: "the same, values of 1 MiB",
		ours: nodesOnDisk(1, lazily), peer: redisInMemory, value: mebibyte, data: diskData, wanted: map[string]float64{"SET": 0.5, "GET": 0.7}},
	{name: "always", title: "three nodes, three copies, `--fsync always`, beside a redis-server with `appendfsync always`; 1 KiB",
		ours: nodesOnDisk(copies, "always"), peer: redisOnDisk, value: kibibyte, data: diskData, wanted: map[string]float64{"SET": 1, "GET": 1}},
	{name: "three", title: "three nodes, three copies, `--fsync interval=100ms`, beside the same in memory; 1 KiB",
		ours: nodesOnDisk(copies, lazily), peer: nodesInMemory, value: kibibyte, data: diskData, wanted: map[string]float64{"SET": 0.6, "GET": 0.6}, allDepths: true},
	{name: "cache", title: "the same with a `--cache` of a tenth of the values, keys by Zipf's law",
		ours: diskSide{quollName, func(p, changed *plan) {
			nodesOnDisk(copies, lazily).set(p, changed)
			changed.cache = leastOf
		}}, peer: nodesInMemory, value: kibibyte, data: 10 * leastOf, args: []string{"--distribution", "zipf"}, wanted: map[string]float64{"SET": 0.5, "GET": 0.5}, allDepths: true},
}

// diskEngine is the engine on disk.
func (p *plan) diskEngine() string {
	if p.onDisk() {
		return p.engine
	}
	return "badger"
}

// keysOf is how many keys a case has: those that were asked for, if these are not too many.
func (p *plan) keysOf(c *diskCase) int { return min(p.keys, c.data/c.value) }

// diskPoint is what was measured of one side of a case: commands, or in the end what it holds (Copies is above 0 then).
type diskPoint struct {
	Case string `json:"case"`
	measure
	// Written is what was written to all disks of the machine while SETs were measured, and until all of it was there: bytes for each byte of keys and values.
	Written float64 `json:"written_to_disks,omitempty"`
	// Memory and Disk are bytes for each copy of a key, Copies how many of these there are.
	Memory float64 `json:"memory_bytes_per_copy,omitempty"`
	Disk   float64 `json:"disk_bytes_per_copy,omitempty"`
	Copies int     `json:"copies,omitempty"`
}

const (
	oursName = "ours"
	peerName = "peer"
)

// diskAll measures the cases that were asked for. What cannot be done once does not keep the rest from being measured.
func (p *plan) diskAll(ctx context.Context) (all []diskPoint, err error) {
	attempt := attempts(ctx, &all, &err)
	for i := range diskCases {
		if c := &diskCases[i]; len(p.cases) == 0 || slices.Contains(p.cases, c.name) {
			attempt(c.title, func() ([]diskPoint, error) { return p.compareOnDisk(ctx, c) })
		}
	}
	return all, err
}

// compareOnDisk starts both sides and measures them.
func (p *plan) compareOnDisk(ctx context.Context, c *diskCase) (points []diskPoint, err error) {
	err = p.onSide(ctx, c, c.ours, func(ours *running) error {
		return p.onSide(ctx, c, c.peer, func(peer *running) error {
			sides := []struct {
				name string
				*running
			}{{oursName, ours}, {peerName, peer}}
			for round := 1; round <= p.rounds; round++ {
				for i := range sides {
					side := sides[(i+round-1)%len(sides)]
					measured, err := side.measureDisk(ctx, c, round, side.name)
					if points = append(points, measured...); err != nil {
						return err
					}
				}
			}
			for _, side := range sides {
				held, err := side.holds(ctx, c, side.name)
				if err != nil {
					return err
				}
				points = append(points, held)
			}
			return nil
		})
	})
	return points, err
}

// onSide starts one side and fills it.
func (p *plan) onSide(ctx context.Context, c *diskCase, side diskSide, do func(*running) error) error {
	changed := *p
	changed.value, changed.keys = c.value, p.keysOf(c)
	side.set(p, &changed)
	s := systems[slices.IndexFunc(systems, func(s system) bool { return s.name == side.system })]
	return changed.at(ctx, s, func(site *site, to target) error {
		if err := changed.load(ctx, s, to, max(1, min(64, 64<<10/c.value))); err != nil {
			return err
		}
		return do(&running{site, to})
	})
}

// measureDisk measures one side in one round. A pipeline of large values is as much as many small ones.
func (r *running) measureDisk(ctx context.Context, c *diskCase, round int, name string) (points []diskPoint, err error) {
	for _, op := range []string{"SET", "GET"} {
		for _, depth := range r.depths {
			if c.value >= mebibyte && depth > 1 {
				continue
			}
			unix.Sync() // nobody pays for what the other side has written
			before, err := writtenToDisks()
			if err != nil {
				return points, err
			}
			m, err := r.measure(ctx, r.to, op, depth, c.args...)
			if err != nil {
				return points, err
			}
			unix.Sync()
			after, err := writtenToDisks()
			if err != nil {
				return points, err
			}
			m.System, m.Round = name, round
			pt := diskPoint{Case: c.name, measure: m}
			if op == "SET" && m.Operations > 0 {
				pt.Written = float64(after-before) / float64(m.Operations) / float64(c.value+keySize)
			}
			fmt.Fprintf(os.Stderr, "  round %d, %s: %s, depth %d: %.0f/s, p99 %s, %.1f µs of CPU each, %.1f B written for each of data\n", round, name, op, depth, m.Throughput, inUnits(m.P99), m.CPU, pt.Written)
			points = append(points, pt)
		}
	}
	return points, nil
}

// keySize is how long keys are.
const keySize = 16

// holds reads back some of what one side holds, and compares it, and returns what all of it takes.
func (r *running) holds(ctx context.Context, c *diskCase, name string) (pt diskPoint, err error) {
	m, err := r.bench(ctx, r.to, "--commands", "GET", "--no-load", "--check", "--duration", "1s")
	if err != nil {
		return pt, err
	}
	if bad := m.Errors + m.Missing + m.Wrong; bad > 0 {
		return pt, fmt.Errorf("%d of %d values that were read in the end are not what was written", bad, m.Operations)
	}
	memory, err := r.memory()
	if err != nil {
		return pt, err
	}
	disk, err := diskSpace(r.dir)
	pt = diskPoint{Case: c.name, measure: measure{System: name}, Copies: r.keys * max(1, r.to.copies)}
	pt.Memory, pt.Disk = float64(memory)/float64(pt.Copies), float64(disk)/float64(pt.Copies)
	return pt, err
}
