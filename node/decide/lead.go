package decide

import (
	"context"
	"log/slog"
	"slices"
	"time"

	"github.com/quolldb/quoll/ring/change"
)

// Leader runs the plan under way, on the node that leads the group: it begins its waves. What moves a slot on from there are the reports of those who collect it.
type Leader struct {
	Machine *Machine
	// Propose has an entry decided. It returns when the machine has applied it.
	Propose func(ctx context.Context, e change.Entry) error
	// Alive says who is alive.
	Alive func(id uint16) bool
	// By is who the log says it was.
	By     string
	Logger *slog.Logger

	pace pace
	full full
	// idle is the version, the pace and who was alive, when nothing could begin: it takes milliseconds to find that out for a large plan.
	idle []uint64
}

// lookAgain is how often a leader looks whether a slot can begin to move though the document is the same: somebody may have come back.
const lookAgain = 100 * time.Millisecond

// Run leads until ctx ends.
func (l *Leader) Run(ctx context.Context) {
	ticker := time.NewTicker(lookAgain)
	defer ticker.Stop()
	for {
		for l.begin(ctx) {
		}
		select {
		case <-ctx.Done():
			return
		case <-l.Machine.changed:
		case <-ticker.C:
		}
	}
}

// begin begins a wave, and reports whether there was one.
func (l *Leader) begin(ctx context.Context) bool {
	d := l.Machine.Document()
	if d == nil || d.Plan == nil || ctx.Err() != nil {
		return false
	}
	now := time.Now()
	limits := l.pace.limits(d, now, l.Alive)
	situation := l.situation(d)
	if l.full.holds(d, limits.PerTarget, now) || slices.Equal(situation, l.idle) {
		return false
	}
	slots := change.NextWave(*d, limits)
	if len(slots) == 0 {
		l.idle = situation
		return false
	}
	err := l.Propose(ctx, change.Entry{By: l.By, Begin: &change.Begin{Plan: d.Plan.ID, Slots: slots}})
	if err != nil { // the plan has changed meanwhile, or there is no majority
		l.Logger.Debug("a wave of slots did not begin", "plan", d.Plan.ID, "slots", len(slots), "err", err)
		return false
	}
	l.full = full{plan: d.Plan.ID, each: limits.PerTarget, joint: len(d.Joint) + len(slots), at: now}
	return true
}

// situation is what it depends on which slots can begin: the version of the document, the pace, and who is alive.
func (l *Leader) situation(d *change.Document) []uint64 {
	s := []uint64{d.Version, uint64(l.pace.each)}
	for _, m := range d.Members {
		if l.Alive(m.ID) {
			s = append(s, uint64(m.ID))
		}
	}
	return s
}
