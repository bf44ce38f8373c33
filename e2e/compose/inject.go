//go:build linux

package compose

import (
	"net/http"
	"time"
)

// orders are what the fault layer of a process was told, in this life of the process.
type orders struct {
	delay string
	clock time.Duration
}

// Slow delays whatever a service sends to its peers, until it restarts; 0 ends that.
func (s *Service) Slow(delay time.Duration) {
	s.cluster.t.Helper()
	s.orders.delay = ""
	if delay > 0 {
		s.orders.delay = delay.String()
	}
	s.inject()
}

// ClockJump sets the wall clock of a node ahead (or, negative, back) of what it should be, until it restarts;
// 0 ends that.
func (s *Service) ClockJump(by time.Duration) {
	s.cluster.t.Helper()
	s.orders.clock = by
	s.inject()
}

// inject gives the fault layer its orders, which replace all earlier ones.
func (s *Service) inject() {
	s.cluster.t.Helper()
	type rule struct {
		Peer  string `json:"peer"`
		Delay string `json:"delay"`
	}
	plan := map[string]any{"rules": []rule{}}
	if s.orders.delay != "" {
		plan["rules"] = []rule{{Peer: "*", Delay: s.orders.delay}}
	}
	if s.Node {
		plan["clock"] = s.orders.clock.String()
	}
	s.cluster.must(s.ask(http.MethodPut, "/v1/faults", plan, nil))
}

// Injected is what the fault layer of a process does and has done.
type Injected struct {
	// Clock is how far the node's clock is ahead; Delayed counts what was sent late.
	Clock   time.Duration
	Delayed int
}

// Injected asks the fault layer.
func (s *Service) Injected() (Injected, error) {
	var answer struct {
		Clock string
		Rules []struct{ Counters struct{ Delayed int } }
	}
	if err := s.ask(http.MethodGet, "/v1/faults", nil, &answer); err != nil {
		return Injected{}, err
	}
	var injected Injected
	injected.Clock, _ = time.ParseDuration(answer.Clock) // empty: it is right
	for _, r := range answer.Rules {
		injected.Delayed += r.Counters.Delayed
	}
	return injected, nil
}
