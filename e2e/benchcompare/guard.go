package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"strconv"
	"time"
)

// With -guard it is asked whether a SET and a GET cost as much as they did when that was last recorded. What is compared is a ratio: the CPU time of a redis-server for each
// operation, divided by that of Quoll's processes, both measured within two seconds of each other on the same cores.
//
// What makes it a different one was measured on a shared machine. With 100,000 keys a redis-server waits for memory, and depends on where that is and on who else uses the caches: the
// ratio of SET was 0.27 to 0.54, from one start to the next. With 5,000 single rounds scatter by 6 % (standard deviation; GET 5 %), so the median of 16 is known to 2 %. Other programs
// that had half of the machine shifted it, from 0.20 to 0.18, and that of GET from 0.32 to 0.29, with rounds that scattered by 5 to 8 %. So each measurement says how much of the machine
// others had, and counts only if that was little, and before each round it is waited for a while until it is. Depth 1 is not judged: there single rounds scatter by 9 to 25 %.

// guarded are the figures that are judged, and how many operations each measurement has: about half a second.
var guarded = []struct {
	figure
	count int
}{{figure{"SET", 16}, 200_000}, {figure{"GET", 16}, 300_000}}

const (
	// guardedKeys fit into the caches, and so does what a redis-server keeps of them.
	guardedKeys = 5_000
	// quiet is the share of the machine that others may have in a measurement that counts. Without any it is a tenth: the system's own work, and that of whoever rests meanwhile.
	quiet = 0.25
	// Both systems are started anew after roundsEach rounds, for each start finds other memory. That goes on until there are enough rounds that count; if
	// something fell, as often as mostStarts, for a fall has to last.
	roundsEach, enough, enoughToRecord, mostStarts = 4, 16, 32, 12
	// patience is how long it is waited in all for others to leave the machine alone, ten times as long to record.
	patience = 2 * time.Minute
	// fewest rounds that count are needed to compare, of two starts at least. To record takes enough.
	fewest = 8
)

// guard measures, and records that or compares it with what is recorded.
func (p *plan) guard(ctx context.Context) error {
	all, err := readRecordings(p.recorded)
	if err != nil {
		return err
	}
	now := p.recordingOf(runtime.NumCPU())
	before, known := all.like(now)
	settled := func(so []standing) bool {
		if p.records || !known {
			return rounds(so) >= enoughToRecord
		}
		compared, err := changes(so, before.Ratios)
		return err == nil && rounds(so) >= enough && len(fallen(compared)) == 0
	}
	wait := waiting{patience}
	if p.records {
		wait.patience *= 10
	}
	if now.Ratios, err = p.guardAll(ctx, wait, settled); err != nil {
		return err
	}
	if counted := rounds(now.Ratios); counted < fewest || p.records && counted < enough {
		return p.unknown(fmt.Sprintf("other programs had more than %.0f %% of the machine in all but %d rounds", 100*quiet, counted))
	}
	if p.records {
		fmt.Print(table(now.Ratios))
		return all.with(now).write(p.recorded)
	}
	if !known {
		fmt.Print(table(now.Ratios))
		return p.unknown(fmt.Sprintf("nothing is recorded of %v: make bench-guard RECORD=1 does that", now))
	}
	return judge(now, before)
}

// unknown says that nothing could be compared, which is an error if it should have been recorded.
func (p *plan) unknown(why string) error {
	if p.records {
		return errors.New(why)
	}
	fmt.Printf("SKIPPED: %s: NOTHING is known about what commands cost\n", why)
	return nil
}

// guardAll measures in turns until what was measured so far is enough, or nobody waits any longer, and returns where the figures stand.
func (p *plan) guardAll(ctx context.Context, wait waiting, settled func([]standing) bool) (so []standing, err error) {
	few := *p
	few.keys = guardedKeys
	var pairs []pair
	for range mostStarts {
		err := few.both(ctx, func(quoll, redis *running) error {
			for range roundsEach {
				if err := wait.untilQuiet(ctx); err != nil {
					return err
				}
				more, err := inTurns(ctx, quoll, redis)
				if err != nil {
					return err
				}
				pairs = append(pairs, more...)
			}
			return nil
		})
		if err != nil {
			return nil, err
		}
		if so = standings(pairs, quiet); settled(so) || wait.patience <= 0 {
			break
		}
	}
	return so, nil
}

// inTurns measures each figure once.
func inTurns(ctx context.Context, quoll, redis *running) (pairs []pair, err error) {
	for _, g := range guarded {
		r, err := redis.cost(ctx, g.figure, g.count)
		if err != nil {
			return nil, err
		}
		q, err := quoll.cost(ctx, g.figure, g.count)
		if err != nil {
			return nil, err
		}
		one := pair{figure: g.figure, redis: r.CPU, quoll: q.CPU, others: max(r.Others, q.Others)}
		fmt.Fprintf(os.Stderr, "%v: redis %.2f µs, quoll %.2f µs: %.3f; others had %.0f %%\n", g.figure, r.CPU, q.CPU, one.redis/one.quoll, 100*one.others)
		pairs = append(pairs, one)
	}
	return pairs, nil
}

// both starts Quoll and a redis-server beside it, fills them, does something with them, and stops them.
func (p *plan) both(ctx context.Context, do func(quoll, redis *running) error) error {
	if len(p.systems) != 2 {
		return fmt.Errorf("a redis-server is needed beside Quoll: %v", p.missing)
	}
	start := func(s system, next func(*running) error) error {
		return p.at(ctx, s, func(site *site, to target) error {
			if err := p.load(ctx, s, to, 64); err != nil {
				return err
			}
			return next(&running{site, to})
		})
	}
	return start(p.systems[0], func(quoll *running) error {
		return start(p.systems[1], func(redis *running) error { return do(quoll, redis) })
	})
}

// running is a system that runs.
type running struct {
	*site
	to target
}

// cost measures what a figure costs a system. Answers that were errors cost something else: while others have much of the machine, such a measurement just does not count.
func (r *running) cost(ctx context.Context, f figure, count int) (measure, error) {
	m, err := r.measureFor(ctx, r.to, f.Op, f.Depth, "--count", strconv.Itoa(count))
	if err == nil && m.Errors+m.Missing > 0 {
		if m.Others <= quiet {
			return m, fmt.Errorf("%v: of %d answers %d were errors (%s) and %d found nothing", f, m.Operations, m.Errors, m.LastError, m.Missing)
		}
		m.Others = 1
	}
	return m, err
}
