package main

import (
	"context"
	"fmt"
	"io"
	"math/rand/v2"
	"sync"
	"time"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/churn"
	"github.com/quolldb/quoll/internal/config"
	"github.com/quolldb/quoll/internal/verify"
)

// churnOptions are the flags of `verify --churn`.
type churnOptions struct {
	replicas []int
	seed     uint64
}

// verifyReport is what is printed.
type verifyReport struct {
	verify.Report
	Churn *churnReport `json:"churn,omitempty"`
}

type churnReport struct {
	Seed uint64 `json:"seed"`
	churn.Report
}

// churning changes the ring until the clients' time is over, and then waits until it is at rest, if that is wanted.
func (a *app) churning(ctx context.Context, cfg config.Verified, opt churnOptions, d time.Duration) (wait func() *churnReport) {
	if len(cfg.Churn) == 0 {
		return func() *churnReport { return nil }
	}
	report := &churnReport{Seed: opt.seed}
	for report.Seed == 0 {
		report.Seed = rand.Uint64()
	}
	var rings []churn.Ring
	for _, address := range cfg.Churn {
		rings = append(rings, admin.NewClient(address, cfg.Secret.Reveal()))
	}
	var running sync.WaitGroup
	running.Go(func() {
		ctx, cancel := context.WithTimeout(ctx, d)
		defer cancel()
		report.Report = churn.Run(ctx, churn.Options{Rings: rings, Seed: report.Seed, Replicas: opt.replicas})
	})
	return func() *churnReport { running.Wait(); return report }
}

// writeChurn prints for people what was done with the ring.
func writeChurn(w io.Writer, r *churnReport) {
	fmt.Fprintf(w, "Changes of the ring meanwhile: %s committed, %d of them turned back, %d turned forth again; refused: %d (--churn-seed %d).\n",
		plural(int64(r.Plans), "plan"), r.Aborted, r.Undone, r.Refused, r.Seed)
	if r.Stuck != "" {
		fmt.Fprintf(w, "The ring did not come to rest: %s\n", printable(r.Stuck))
	}
}
