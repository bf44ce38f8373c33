package churn

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/ring/change"
)

// by is who did it, for the ring's history.
var by = admin.RingOption{By: "verify"}

// deed is what is done with the ring.
type deed = func(context.Context, Ring) error

// next draws what to do with a ring as it is now, nil for nothing.
func (c *churn) next(now admin.RingStatus) (what string, do deed) {
	if now.Paused {
		return "resume", func(ctx context.Context, r Ring) error { _, err := r.ResumeRing(ctx, by); return err }
	}
	switch n := c.random.IntN(10); {
	case n == 0:
		return "pause", func(ctx context.Context, r Ring) error { _, err := r.PauseRing(ctx, by); return err }
	case n == 1:
		rate := int64(1<<20) << c.random.IntN(8)
		return fmt.Sprint("rate ", rate), func(ctx context.Context, r Ring) error { _, err := r.RateRing(ctx, rate, by); return err }
	case now.Plan == nil, n == 3: // two plans become one
		return c.plan(now)
	case n == 2:
		return c.turn(now.Plan)
	}
	return "", nil
}

// turn turns the plan back, or forth again.
func (c *churn) turn(p *admin.RingProgress) (what string, do deed) {
	id, undo := p.ID, p.Aborting
	what = "abort " + id
	if undo {
		what = "undo the abort of " + id
	}
	return what, func(ctx context.Context, r Ring) error {
		_, err := r.AbortRing(ctx, id, undo, by)
		if err == nil && undo {
			c.report.Undone++
		} else if err == nil && !c.turned[id] {
			c.turned[id] = true
			c.report.Aborted++
		}
		return err
	}
}

// plan draws changes, and commits them.
func (c *churn) plan(now admin.RingStatus) (what string, do deed) {
	changes := c.changes(now)
	if len(changes) == 0 {
		return "", nil
	}
	var words []string
	for _, s := range changes {
		words = append(words, admin.SayChange(s))
	}
	return "plan " + strings.Join(words, ", "), func(ctx context.Context, r Ring) error {
		if len(now.Staged) > 0 { // of an attempt that nobody knew the outcome of
			if _, err := r.ClearRing(ctx, "", by); err != nil {
				return err
			}
		}
		p, err := r.StageRing(ctx, changes, by)
		if err != nil {
			return err
		}
		if p.Problem != "" || len(p.Loss) > 0 {
			return fmt.Errorf("it can't be done now: %s %s", p.Problem, strings.Join(p.Loss, "; "))
		}
		_, err = r.CommitRing(ctx, p.ID, "", by)
		if err == nil {
			c.report.Plans++
		}
		return err
	}
}

// changes draws one or two changes that make sense with a ring as it is.
func (c *churn) changes(now admin.RingStatus) []change.Staged {
	var active, waiting []string
	for _, m := range now.Members {
		switch {
		case m.State == "active":
			active = append(active, m.Name)
		case m.State == "waiting" && m.Alive:
			waiting = append(waiting, m.Name)
		}
	}
	if len(active) == 0 {
		return nil
	}
	one := active[c.random.IntN(len(active))]
	spare := len(active) > max(c.opt.Least, now.Replicas)
	var possible []change.Staged
	for _, w := range waiting {
		possible = append(possible, change.Staged{Kind: change.JoinMember, Name: w}, change.Staged{Kind: change.ReplaceMember, Name: one, By: w})
	}
	if spare {
		possible = append(possible, change.Staged{Kind: change.LeaveMember, Name: one})
	}
	possible = append(possible, change.Staged{Kind: change.SetWeight, Name: one, Number: 1 + c.random.IntN(3)},
		change.Staged{Kind: change.SetRack, Name: active[c.random.IntN(len(active))], By: fmt.Sprint("r", 1+c.random.IntN(3))})
	for _, n := range c.opt.Replicas {
		if n != now.Replicas && n <= len(active) {
			possible = append(possible, change.Staged{Kind: change.SetReplicas, Number: n})
		}
	}
	c.random.Shuffle(len(possible), func(i, j int) { possible[i], possible[j] = possible[j], possible[i] })
	return c.together(possible)
}

// together takes the first change, and sometimes a second one that has to do with nobody of the first.
func (c *churn) together(possible []change.Staged) []change.Staged {
	first := possible[0]
	if c.random.IntN(3) > 0 {
		return possible[:1]
	}
	i := slices.IndexFunc(possible, func(s change.Staged) bool {
		return s.Kind != first.Kind && s.Name != first.Name && s.Name != first.By && (s.By == "" || s.By != first.Name && s.By != first.By)
	})
	if i < 0 {
		return possible[:1]
	}
	return []change.Staged{first, possible[i]}
}
