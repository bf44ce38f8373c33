package world

import (
	"errors"
	"fmt"
	"sync/atomic"
	"testing/synctest"
	"time"

	"github.com/quolldb/quoll/internal/history"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/ring/change"
	"github.com/quolldb/quoll/ring/gossip"
)

// Stats count what happened in a world.
type Stats struct {
	// Operations of clients, and what became of them.
	Operations, Answered, Refused, Unknown atomic.Int64
	// Bugs is how many commands ended with an internal error of a proxy. There may be none: clients whose connections end so do little, and then nothing is found.
	Bugs atomic.Int64
	// Events are what the schedule did: faults, and ends of faults.
	Events atomic.Int64
	// Simulated is how long the world has lived, by its own clock; Converged how long it took until all replicas were equal.
	Simulated, Converged time.Duration
}

// ErrDiverged is returned (wrapped) for a world whose replicas do not become equal.
var ErrDiverged = errors.New("the replicas do not become equal")

// converge waits until all replicas hold the same.
func (w *World) converge() error {
	began := time.Now()
	for {
		difference, err := w.difference()
		switch {
		case err != nil:
			return err
		case difference == "":
			w.stats.Converged = time.Since(began)
			w.note("all replicas are equal")
			return nil
		case time.Since(began) > patience:
			return fmt.Errorf("%w within %s: %s", ErrDiverged, patience, difference)
		}
		time.Sleep(100 * time.Millisecond)
	}
}

// difference says where replicas differ, "" if they do not. It looks at all engines at one moment, in which nothing moves.
func (w *World) difference() (string, error) {
	synctest.Wait()
	doc := w.latest()
	holders := map[uint16]*machine{}
	for _, l := range doc.Members {
		holders[l.ID] = w.machineOf(l)
	}
	for slot := range uint16(engine.Slots) {
		var first engine.SlotStats
		replicas := doc.Slots[slot].Replicas
		for i, id := range replicas {
			stats, err := holders[id].store.reader().Stats(slot)
			if err != nil {
				return "", err
			}
			if i == 0 {
				first = stats
			} else if stats.Live != first.Live || stats.Digest != first.Digest {
				return fmt.Sprintf("slot %d: %+v at %s, %+v at %s", slot, first, holders[replicas[0]].name, stats, holders[id].name), nil
			}
		}
	}
	return "", nil
}

// acquainted waits until every node knows by gossip that every other one is alive.
func (w *World) acquainted() error {
	for began := time.Now(); ; time.Sleep(100 * time.Millisecond) {
		missing := w.strangers()
		switch {
		case missing == "":
			w.note("all nodes take each other for alive")
			return nil
		case time.Since(began) > patience:
			return fmt.Errorf("gossip: after %s %s", patience, missing)
		}
	}
}

// strangers says which member does not take which other one for alive, "" if there is none.
func (w *World) strangers() string {
	var members []*machine
	for _, l := range w.latest().Members {
		if m := w.machineOf(l); m != nil && l.State == change.Active {
			members = append(members, m)
		}
	}
	for _, m := range members {
		seen := m.node.Self().SeenBy
		for _, other := range members {
			if state := seen[other.name]; other != m && state != gossip.Alive.String() {
				return fmt.Sprintf("node %s is %q for node %s", other.name, state, m.name)
			}
		}
	}
	return ""
}

// readAll has a client read all keys once more: what was acknowledged is there.
func (w *World) readAll() {
	for _, key := range w.recorder.Keys() {
		w.clients[0].send([]history.Command{history.Whole(key)})
	}
}
