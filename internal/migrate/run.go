package migrate

import (
	"context"
	"errors"
	"fmt"
	"io"
	"sync"
	"time"
)

// The bounds of Options.Connections.
const (
	minConnections = 1
	maxConnections = 64
)

// Options say what is copied, and how.
type Options struct {
	From Source
	To   *Server
	// Connections is how many workers there are, each with a connection to either end: 1 to 64.
	Connections int
	// Replace overwrites keys that are there with another value. Otherwise they are left alone, and counted.
	Replace bool
	// Rate bounds the bytes of values for each second, 0 for no bound.
	Rate int64
	// Sample is how many keys are compared at the end, 0 for no verification.
	Sample int
	// State is the file in which the position is kept, so that a later run goes on from there; "" for none. It is removed when all is copied.
	State string
	// Progress, if not nil, is told after every batch how far it is. It is called by one goroutine at a time, and holds up the copy.
	Progress func(Progress)
}

// Faults returns what is wrong with the numbers, "" if nothing is.
func (o *Options) Faults() string {
	if o.Connections < minConnections || o.Connections > maxConnections {
		return fmt.Sprintf("%d is not from %d to %d", o.Connections, minConnections, maxConnections)
	}
	return ""
}

// Progress is how far it is.
type Progress struct {
	Tally
	// Share of the whole, 0 if that is not known; and how many keys are expected, 0 likewise.
	Share float64
	Total uint64
}

// run is one copy.
type run struct {
	Options
	pace   pace
	ledger ledger
	share  struct { // of what was handed out, as the source says
		sync.Mutex
		Progress
	}
}

// numbered is a batch on its way to a worker.
type numbered struct {
	*batch
	number int
}

// Run copies, and verifies. It blocks until that is done, the context ends, or an error makes it impossible to go on; the report says what was done
// until then, and the state file, if there is one, where to go on. Errors wrap ErrState if the state is of something else.
func Run(ctx context.Context, opt Options) (Report, error) {
	began := time.Now()
	r := &run{Options: opt, pace: pace{rate: opt.Rate}}
	r.ledger = ledger{file: stateFile{path: opt.State}, ahead: map[int]done{}, named: map[outcome]int{}, sample: sample{size: opt.Sample}}
	report := Report{From: opt.From.String(), To: opt.To.String()}
	var err error
	if r.ledger.state, err = r.ledger.file.load(opt.From.identity(), opt.To.String()); err != nil {
		return report, err
	}
	report.Resumed = r.ledger.state.Position != ""
	err = opt.From.seek(ctx, r.ledger.state.Position)
	if err == nil {
		err = r.copy(ctx)
	}
	report.Tally = r.ledger.tally()
	var examples []Example
	if err == nil {
		report.Libraries, examples, err = r.copyFunctions(ctx)
	}
	if err == nil {
		report.Elsewhere = opt.From.elsewhere(ctx)
		if opt.Sample > 0 {
			report.Verified, err = r.verify(ctx, report.Tally)
		}
	}
	if err == nil {
		err = r.ledger.file.remove()
	} else {
		err = errors.Join(err, r.ledger.keep())
	}
	report.Examples = append(r.ledger.examples, examples...)
	report.Elapsed = time.Since(began)
	report.Seconds = report.Elapsed.Seconds()
	return report, err
}

// copy copies all that the source hands out.
func (r *run) copy(ctx context.Context) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	batches := make(chan numbered, r.Connections) // so that the source is asked for more while all are at work
	var workers sync.WaitGroup
	for worker := range r.Connections {
		workers.Go(func() {
			for b := range batches {
				if err := r.do(ctx, worker, b); err != nil {
					cancel(err)
				}
			}
		})
	}
	err := r.handOut(ctx, batches)
	close(batches)
	workers.Wait()
	if cause := context.Cause(ctx); cause != nil {
		return cause
	}
	return err
}

// handOut reads batches until there are no more.
func (r *run) handOut(ctx context.Context, batches chan<- numbered) error {
	for number := 0; ; number++ {
		b, err := r.From.next(ctx)
		if errors.Is(err, io.EOF) {
			return nil
		}
		if err != nil {
			return err
		}
		r.tellShare()
		select {
		case batches <- numbered{b, number}:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

// do copies a batch.
func (r *run) do(ctx context.Context, worker int, b numbered) error {
	d := done{after: b.after}
	w := writer{to: r.To, worker: worker, replace: r.Replace, pace: &r.pace, tell: func(i *item, what outcome, why string) {
		d.tally.count(i, what)
		r.ledger.tell(i, what, why)
	}}
	err := r.From.load(ctx, worker, b.batch, func(items []item) error { return w.write(ctx, items) })
	if err == nil {
		err = r.ledger.finish(b.number, d)
	}
	if err == nil && r.Progress != nil {
		r.tellProgress()
	}
	return err
}

// tellShare takes note of how much of the source is read.
func (r *run) tellShare() {
	r.share.Lock()
	defer r.share.Unlock()
	r.share.Share, r.share.Total = r.From.share(r.ledger.tally().Keys)
}

func (r *run) tellProgress() {
	r.share.Lock()
	defer r.share.Unlock()
	r.share.Tally = r.ledger.tally()
	r.Progress(r.share.Progress)
}
