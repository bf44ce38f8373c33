package world

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/quolldb/quoll/ring/change"
)

// churn changes the ring all the time, while processes end and the network misbehaves: members come, leave and are replaced, weights, racks and the number of
// replicas change, members lose all that they had, plans are turned around and interrupted.
func churn(ctx context.Context, w *World) { w.churn(ctx, deeds) }

// refounds is churn in which most of those who decide on the ring die now and then, and the group is founded again without them before they come back after all.
func refounds(ctx context.Context, w *World) {
	w.churn(ctx, append(slices.Clone(deeds), (*World).refound, (*World).refound, (*World).refound))
}

// churn does deeds, and blows in between.
func (w *World) churn(ctx context.Context, deeds []func(*World, *machine)) {
	for w.next(ctx, 50*time.Millisecond, time.Second) {
		if w.random.IntN(3) == 0 {
			blows[w.random.IntN(len(blows))](w)
			continue
		}
		if m := w.someone(); m != nil {
			deeds[w.random.IntN(len(deeds))](w, m)
		}
	}
}

// deeds are what churn does to the ring, by a node that knows it.
var deeds = []func(*World, *machine){
	(*World).grow,
	(*World).planJoin, (*World).planJoin, (*World).planJoin,
	(*World).planLeave, (*World).planLeave,
	(*World).planReplace,
	(*World).planReplicas,
	(*World).planWeight, (*World).planRack,
	(*World).loseState, (*World).loseState,
	(*World).turnPlan, (*World).turnPlan,
	(*World).setRate, (*World).setRate,
	(*World).pauseRing, (*World).resumeRing, (*World).resumeRing,
	(*World).retire,
}

// mostMachines is how many there are at most in a world, those that have left the ring too.
const mostMachines = 9

// someone is a node that runs and knows a ring, nil if there is none.
func (w *World) someone() *machine {
	up := slices.DeleteFunc(w.up(), func(m *machine) bool { return m.node.Document() == nil })
	if len(up) == 0 {
		return nil
	}
	return up[w.random.IntN(len(up))]
}

// propose has the ring changed, or not: much of what is drawn makes no sense.
func (w *World) propose(m *machine, e change.Entry) bool {
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	e.By = m.name
	return m.node.ProposeRing(ctx, e) == nil
}

// plan stages changes and commits them.
func (w *World) plan(m *machine, changes ...change.Staged) {
	for _, s := range changes {
		if !w.propose(m, change.Entry{Stage: &s}) {
			w.propose(m, change.Entry{Unstage: &change.Unstage{}})
			return
		}
	}
	commit, err := change.Propose(*m.node.Document())
	if err != nil {
		w.propose(m, change.Entry{Unstage: &change.Unstage{}})
		return
	}
	if w.propose(m, change.Entry{Commit: commit}) {
		w.note("committed by %s: %v", m.name, changes)
	}
}

// named returns a member in a state, and how many there are.
func (w *World) named(m *machine, state change.State) (name string, of int) {
	var names []string
	for _, l := range m.node.Document().Members {
		if l.State == state {
			names = append(names, l.Name)
		}
	}
	if len(names) == 0 {
		return "", 0
	}
	return names[w.random.IntN(len(names))], len(names)
}

// grow starts a node on a new machine, which asks to join.
func (w *World) grow(*machine) {
	if len(w.machines) == mostMachines {
		return
	}
	m := w.newMachine(string(rune('a' + len(w.machines))))
	m.joins = true
	w.must(m.start())
}

func (w *World) planJoin(m *machine) {
	if name, n := w.named(m, change.Waiting); n > 0 {
		w.plan(m, change.Staged{Kind: change.JoinMember, Name: name})
	}
}

func (w *World) planLeave(m *machine) {
	if name, n := w.named(m, change.Active); n > max(3, m.node.Document().Replicas) {
		w.plan(m, change.Staged{Kind: change.LeaveMember, Name: name})
	}
}

func (w *World) planReplace(m *machine) {
	name, _ := w.named(m, change.Active)
	if by, n := w.named(m, change.Waiting); n > 0 && name != "" {
		w.plan(m, change.Staged{Kind: change.ReplaceMember, Name: name, By: by})
	}
}

func (w *World) planReplicas(m *machine) {
	if _, n := w.named(m, change.Active); n >= 5 {
		w.plan(m, change.Staged{Kind: change.SetReplicas, Number: 8 - m.node.Document().Replicas}) // 3 to 5 to 3
	}
}

func (w *World) planWeight(m *machine) {
	if name, n := w.named(m, change.Active); n > 0 {
		w.plan(m, change.Staged{Kind: change.SetWeight, Name: name, Number: 1 + w.random.IntN(3)})
	}
}

func (w *World) planRack(m *machine) {
	if name, n := w.named(m, change.Active); n > 0 {
		w.plan(m, change.Staged{Kind: change.SetRack, Name: name, By: fmt.Sprint("r", 1+w.random.IntN(3))})
	}
}

// turnPlan turns the plan under way around.
func (w *World) turnPlan(m *machine) {
	if p := m.node.Document().Plan; p != nil && w.propose(m, change.Entry{Abort: &change.Abort{Plan: p.ID, Off: p.Aborting}}) {
		w.note("plan %s is turned around", p.ID)
	}
}

// setRate makes copying slow, or as fast as usual.
func (w *World) setRate(m *machine) {
	rates := []int64{0, 100, 1000, 10_000, 100_000}
	w.propose(m, change.Entry{Rate: &change.Rate{Bytes: rates[w.random.IntN(len(rates))]}})
}

func (w *World) pauseRing(m *machine) { w.propose(m, change.Entry{Pause: &change.Pause{}}) }

func (w *World) resumeRing(m *machine) { w.propose(m, change.Entry{Pause: &change.Pause{Off: true}}) }

// loseState takes all that a member has. It is done to one at a time, when the last one has been ready, as it is by whoever restarts all nodes of a cluster that is in
// memory one after the other.
func (w *World) loseState(*machine) {
	doc := w.latest()
	if doc == nil || doc.Plan != nil || w.losing != nil && (w.losing.lives != w.losingLife || !w.losing.ready()) {
		return
	}
	for _, l := range doc.Members {
		if m := w.machineOf(l); l.State != change.Waiting && (m == nil || !m.ready()) {
			return
		}
	}
	l := doc.Members[w.random.IntN(len(doc.Members))]
	m := w.machineOf(l)
	if m == nil || l.State != change.Active || !m.spared() {
		return
	}
	m.crash(silent)
	m.lost = append(m.lost, m.store)
	m.store, m.joins = m.emptyStore(), true // nobody of its initial cluster need be a member any more
	w.note("node %s has lost its state", m.name)
	w.must(m.start())
	w.losing, w.losingLife = m, m.lives
}

// retire stops nodes that have left the ring, for good.
func (w *World) retire(*machine) {
	for _, m := range w.machines {
		if m.node != nil && m.left() {
			w.must(m.stop())
			m.retired = true
		}
	}
}

// latest is the newest version of the ring that a node has kept, nil if there is none.
func (w *World) latest() (latest *change.Document) {
	for _, m := range w.machines {
		if doc := m.store.ring(); doc != nil && (latest == nil || doc.Version > latest.Version) {
			latest = doc
		}
	}
	return latest
}

// machineOf returns the machine that has the state of a member, nil if none has.
func (w *World) machineOf(l change.Life) *machine {
	i := slices.IndexFunc(w.machines, func(m *machine) bool { return m.name == l.Name && m.store.Generation() == l.Generation })
	if i < 0 {
		return nil
	}
	return w.machines[i]
}

// spared reports whether the others who decide on the ring are a majority without a machine. They are not for a moment when one has founded their group again: if it loses one of one or two
// for ever, an operator has to do so once more.
func (m *machine) spared() bool {
	status, err := m.node.Status(context.Background())
	return err == nil && (status.Deciders == nil || len(status.Deciders.Voters) > 2)
}

// atRest waits until no plan is under way, and every member knows that.
func (w *World) atRest() error {
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		why := w.restless()
		switch {
		case why == "":
			w.note("the ring is at rest")
			return nil
		case time.Since(began) > patience:
			return fmt.Errorf("the ring does not come to rest within %s: %s", patience, why)
		}
		if m := w.someone(); m != nil && m.node.Document().Paused {
			w.propose(m, change.Entry{Pause: &change.Pause{Off: true}})
		} else if m != nil && m.node.Document().Rate > 0 {
			w.propose(m, change.Entry{Rate: &change.Rate{}})
		}
	}
}

// restless says why the ring is not at rest, "" if it is.
func (w *World) restless() string {
	doc := w.latest()
	if doc.Plan != nil {
		arrived, of := doc.Arrived()
		return fmt.Sprintf("version %d: plan %s has moved %d of %d slots, %d are joint", doc.Version, doc.Plan.ID, arrived, of, len(doc.Joint))
	}
	for _, l := range doc.Members {
		switch m := w.machineOf(l); {
		case l.State == change.Waiting:
		case m == nil:
			return fmt.Sprintf("version %d: member %s has lost its state, and is not there again", doc.Version, l.Name)
		case m.node.Document() == nil || m.node.Document().Version != doc.Version:
			return fmt.Sprintf("node %s does not know version %d of the ring", m.name, doc.Version)
		}
	}
	return ""
}
