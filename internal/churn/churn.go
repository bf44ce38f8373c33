package churn

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/ring/change"
)

// Ring is a node's admin API, as far as it is about the ring: an *admin.Client.
type Ring interface {
	Ring(ctx context.Context) (admin.RingStatus, error)
	StageRing(ctx context.Context, changes []change.Staged, opt admin.RingOption) (admin.RingPlan, error)
	ClearRing(ctx context.Context, name string, opt admin.RingOption) (admin.RingPlan, error)
	CommitRing(ctx context.Context, id, acceptLoss string, opt admin.RingOption) (admin.RingStatus, error)
	AbortRing(ctx context.Context, id string, undo bool, opt admin.RingOption) (admin.RingStatus, error)
	PauseRing(ctx context.Context, opt admin.RingOption) (admin.RingStatus, error)
	ResumeRing(ctx context.Context, opt admin.RingOption) (admin.RingStatus, error)
	RateRing(ctx context.Context, bytes int64, opt admin.RingOption) (admin.RingStatus, error)
}

// Options say how a ring is changed.
type Options struct {
	// Rings are the nodes to ask; any that answers does.
	Rings []Ring
	// Seed decides what is done.
	Seed uint64
	// Least is how many active members are left at least: 3 if it is 0. Nor are there ever fewer than there are replicas.
	Least int
	// Replicas are the numbers of replicas that are tried, none to leave it as it is.
	Replicas []int
	// Rest is the time between two looks at the ring, 500 ms if it is 0.
	Rest time.Duration
	// Patience is how long the last plan may take when the time is over, 10 minutes if it is 0.
	Patience time.Duration
	// Note is told what is done, nil for nobody.
	Note func(text string)
}

// Report is what was done.
type Report struct {
	// Plans were committed; Aborted of them were turned back at least once, and Undone turned again.
	Plans   int `json:"plans"`
	Aborted int `json:"aborted"`
	Undone  int `json:"undone"`
	// Finished is how many ended while somebody looked.
	Finished int `json:"finished"`
	// Refused counts what was asked for and not done, and nodes that did not answer.
	Refused int `json:"refused"`
	// Stuck says why the last plan did not end in time, if it did not.
	Stuck     string `json:"stuck,omitempty"`
	LastError string `json:"last_error,omitempty"`
}

// Run changes the ring until ctx ends. Then it lets a plan that is under way come to its end, which takes the patience at most.
func Run(ctx context.Context, opt Options) Report {
	c := newChurn(opt)
	for c.rest(ctx) {
		c.step(ctx)
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), c.opt.Patience)
	defer cancel()
	c.finish(ctx)
	return c.report
}

type churn struct {
	opt    Options
	random *rand.Rand
	report Report
	before string // the plan that was under way when it looked last
	turned map[string]bool
}

func newChurn(opt Options) *churn {
	if opt.Least == 0 {
		opt.Least = 3
	}
	if opt.Rest == 0 {
		opt.Rest = 500 * time.Millisecond
	}
	if opt.Patience == 0 {
		opt.Patience = 10 * time.Minute
	}
	if opt.Note == nil {
		opt.Note = func(string) {}
	}
	return &churn{opt: opt, random: rand.New(rand.NewPCG(opt.Seed, 0)), turned: map[string]bool{}}
}

// rest waits a little, and reports false if ctx has ended.
func (c *churn) rest(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(c.opt.Rest):
		return ctx.Err() == nil
	}
}

// step looks at the ring once, and maybe does something.
func (c *churn) step(ctx context.Context) {
	at := c.opt.Rings[c.random.IntN(len(c.opt.Rings))]
	now, err := at.Ring(ctx)
	if err != nil {
		c.failed(ctx, "look", err)
		return
	}
	c.noteEnd(now)
	what, do := c.next(now)
	if do == nil {
		return
	}
	c.opt.Note(what)
	if err := do(ctx, at); err != nil {
		c.failed(ctx, what, err)
	}
}

// failed notes what was not done. That the time is over is no failure.
func (c *churn) failed(ctx context.Context, what string, err error) {
	if ctx.Err() == nil {
		c.report.Refused++
		c.report.LastError = fmt.Sprintf("%s: %v", what, err)
	}
}

// noteEnd notes that a plan is over.
func (c *churn) noteEnd(now admin.RingStatus) {
	id := ""
	if now.Plan != nil {
		id = now.Plan.ID
	}
	if c.before != "" && id != c.before {
		c.report.Finished++
	}
	c.before = id
}

// finish ends a pause, and waits until no plan is under way.
func (c *churn) finish(ctx context.Context) {
	for at := 0; ; at++ {
		r := c.opt.Rings[at%len(c.opt.Rings)]
		now, err := r.Ring(ctx)
		switch {
		case err != nil && c.report.Stuck != "": // what it saw last says more
		case err != nil:
			c.report.Stuck = err.Error()
		case now.Paused:
			c.report.Stuck = "it is paused"
			if _, err := r.ResumeRing(ctx, by); err != nil {
				c.failed(ctx, "resume", err)
			}
		case now.Plan == nil:
			c.noteEnd(now)
			c.report.Stuck = ""
			return
		default:
			c.report.Stuck = fmt.Sprintf("plan %s has moved %d of %d slots, %d are on their way %v", now.Plan.ID, now.Plan.Moved, now.Plan.Slots, now.Plan.Moving, now.Plan.Stuck)
		}
		if !c.rest(ctx) {
			return
		}
	}
}
