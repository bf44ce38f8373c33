package world

import (
	"context"
	"time"

	"github.com/quolldb/quoll/internal/admin"
)

// refound ends a majority of those who decide on the ring, and has a node found their group again without them, as an operator does who takes them for dead; then
// they come back. What they have decided and nobody else knows would be lost, so it is done when nothing is under way.
func (w *World) refound(m *machine) {
	w.healAll()
	if !w.quiet() {
		return
	}
	status, err := m.node.Status(context.Background())
	if err != nil || status.Deciders == nil {
		return
	}
	var dead []*machine
	for _, v := range status.Deciders.Voters {
		if x := w.byName(v.Name); x != nil && x != m && len(dead) <= len(status.Deciders.Voters)/2 {
			dead = append(dead, x)
		}
	}
	for _, x := range dead {
		x.crash(killed)
	}
	began := time.Now()
	for {
		report, err := m.node.RecoverRing(context.Background(), admin.RecoverRequest{AcceptLoss: clusterName, RingOption: admin.RingOption{By: m.name}})
		if err == nil && report.Done {
			w.note("node %s has founded the group again, version %d, without %v", m.name, report.Version, report.Gone)
			break
		}
		if time.Since(began) > 10*time.Second {
			w.note("node %s does not found the group again: %v", m.name, err)
			break
		}
		time.Sleep(100 * time.Millisecond)
	}
	for _, x := range dead {
		w.must(x.start())
	}
}

// quiet reports whether all members run, are ready and know the same ring, and nothing is under way in it.
func (w *World) quiet() bool {
	doc := w.latest()
	if doc == nil || doc.Plan != nil {
		return false
	}
	for _, l := range doc.Members {
		m := w.machineOf(l)
		if m == nil || !m.ready() || m.node.Document().Version != doc.Version {
			return false
		}
	}
	return true
}

// byName returns the machine of a name, nil if there is none.
func (w *World) byName(name string) *machine {
	for _, m := range w.machines {
		if m.name == name && m.node != nil {
			return m
		}
	}
	return nil
}
