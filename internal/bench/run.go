package bench

import (
	"context"
	"fmt"
	"time"
)

// Progress is how far a run is.
type Progress struct {
	// Phase is what is done: load, mixed, batch, or a command.
	Phase         string
	Trial, Trials int // Trial is 0 while keys are loaded
	// Operations were answered so far in this phase.
	Operations int64
	Elapsed    time.Duration
	// Share of the phase that is done, from 0 to 1.
	Share float64
}

// Bench is a run with its connections.
type Bench struct {
	opt  Options
	pool *pool
}

// Open connects to all servers; options must have no Faults. An error says in one line what is wrong with an address. The caller calls Close.
func Open(ctx context.Context, opt Options) (*Bench, error) {
	pool, err := dial(ctx, &opt)
	if err != nil {
		return nil, err
	}
	return &Bench{opt: opt, pool: pool}, nil
}

// Close closes the connections.
func (b *Bench) Close() { b.pool.close() }

// Run does all trials. If ctx ends meanwhile the report has what was measured until then, and says so; it has as well if there is an error:
// a connection was lost, the server hangs, or what it says is not Redis' protocol. Answers that are errors are counted and are no error here. Run is called once.
func (b *Bench) Run(ctx context.Context) (Report, error) {
	report := Report{Options: b.opt.echo(), Rows: []Row{}, Summary: []Summary{}}
	err := b.run(ctx, &report)
	if err != nil && ctx.Err() != nil {
		report.Interrupted, err = true, nil
	}
	report.summarize()
	return report, err
}

func (b *Bench) run(ctx context.Context, report *Report) error {
	if (b.opt.Workload == Simple || b.opt.Workload == Mixed) && !b.opt.NoLoad {
		t, _, err := b.phase(ctx, b.opt.preparing(), 0)
		switch {
		case err != nil:
			return err
		case t.errors[holdings[b.opt.holds()].load] > 0:
			return fmt.Errorf("the keys could not be written before the measurement: %d writes were refused, the last with: %s",
				t.errors[holdings[b.opt.holds()].load], t.lastError)
		}
	}
	for trial := 1; trial <= b.opt.Trials; trial++ {
		for _, ph := range b.opt.phases() {
			t, elapsed, err := b.phase(ctx, ph, trial)
			report.add(trial, t, elapsed)
			if err != nil {
				return err
			}
		}
	}
	return nil
}

// phase does one phase.
func (b *Bench) phase(ctx context.Context, ph *phase, trial int) (*tally, time.Duration, error) {
	duration, goal := b.opt.Duration, int64(b.opt.Count)
	if ph.load != nil {
		goal = int64(b.opt.Keys * b.opt.loadCommands() * max(1, len(b.opt.Prefixes)))
	}
	if goal > 0 {
		duration = 0
	}
	show := func(operations int64, elapsed time.Duration) {
		if b.opt.Progress == nil {
			return
		}
		p := Progress{Phase: ph.name, Trial: trial, Trials: b.opt.Trials, Operations: operations, Elapsed: elapsed}
		if goal > 0 {
			p.Share = float64(operations) / float64(goal)
		} else {
			p.Share = min(1, elapsed.Seconds()/duration.Seconds())
		}
		b.opt.Progress(p)
	}
	show(0, 0)
	if err := ctx.Err(); err != nil {
		return newTally(), 0, err
	}
	return b.pool.run(ctx, ph, duration, show)
}
