//go:build faults

package admin

import (
	"net/http"

	"github.com/quolldb/quoll/internal/clock"
	"github.com/quolldb/quoll/internal/wire"
)

// The faults of the transport and of the clock, in builds with the tag faults only:
//
//	PUT /v1/faults            replaces all rules and the clock's error at once, and answers as GET does
//	GET /v1/faults            the rules in force, with their counters
//
// Both need the cluster's secret; a process without one refuses them. The rules are of
// the process, and concern what it sends: see wire.FaultRule. "clock" is by how much the wall clock of a node
// is ahead, negative if it is behind; without it the clock is right.

// faults serves the calls that inject faults.
func (h *handler) faults(mux *http.ServeMux) {
	mux.HandleFunc("PUT /v1/faults", h.secretly(func(w http.ResponseWriter, r *http.Request) {
		plan, err := readFaults(http.MaxBytesReader(w, r.Body, maxFaultPlan))
		if err != nil {
			fail(w, http.StatusBadRequest, err.Error())
			return
		}
		wire.InjectFaults(plan.seed, plan.rules)
		clock.Shift(plan.clock)
		reply(w, http.StatusOK, currentFaults())
	}))
	mux.HandleFunc("GET /v1/faults", h.secretly(func(w http.ResponseWriter, _ *http.Request) {
		reply(w, http.StatusOK, currentFaults())
	}))
}

// secretly serves those who know the secret, and nobody where there is none.
func (h *handler) secretly(serve http.HandlerFunc) http.HandlerFunc {
	if h.access.Secret == "" {
		return func(w http.ResponseWriter, _ *http.Request) {
			fail(w, http.StatusForbidden, "faults are injected only into a cluster with a secret: start this process with --secret-file")
		}
	}
	return h.deliberately(serve)
}

// currentFaults returns the rules in force.
func currentFaults() faultPlan {
	seed, injected := wire.InjectedFaults()
	rules := make([]faultRule, 0, len(injected))
	for _, f := range injected {
		rules = append(rules, faultRule{
			Peer: f.Peer, Role: string(f.Role), Cut: f.Cut, Delay: formatDelay(f.Delay), Jitter: formatDelay(f.Jitter),
			Drop: f.Drop, Duplicate: f.Duplicate, Reorder: f.Reorder,
			Counters: &faultCounters{
				Passed: f.Passed, Dropped: f.Dropped,
				Duplicated: f.Duplicated, Reordered: f.Reordered, Delayed: f.Delayed, HeldBytes: f.HeldBytes,
			},
		})
	}
	return faultPlan{Seed: seed, Clock: formatDelay(clock.Shifted()), Rules: &rules}
}
