//go:build linux

package scenarios

import (
	"fmt"
	"testing"
	"time"

	"github.com/quolldb/quoll/e2e/compose"
)

// one breaks something of node a under load, and mends it: no client of any proxy gets an error, but for what was under
// way; it is as fast as before within two seconds, and stays so when the node is back.
// shows asks whether the fault took effect.
func one(t *testing.T, cfg compose.Config, label string, breaks func(*scenario, *compose.Service), shows func(*compose.Service) (bool, string),
	mends func(*scenario, *compose.Service)) {
	t.Helper()
	s := begin(t, cfg)
	a := s.Nodes[0]
	broken := s.strike("node a "+label, func() { breaks(s, a) })
	broken.requireCalm()
	s.Await("it shows that node a is "+label, func() (bool, string) { return shows(a) })
	broken.requireOnlyInFlight()
	mended := broken.mend(func() { mends(s, a) })
	mended.requireCalm()
	mended.requireOnlyInFlight()
	s.end()
}

func isIn(state string) func(*compose.Service) (bool, string) {
	return func(a *compose.Service) (bool, string) { return a.State() == state, a.State() }
}

func saysOfItself(holds func(compose.Status) bool) func(*compose.Service) (bool, string) {
	return func(a *compose.Service) (bool, string) {
		status, err := a.Status()
		return err == nil && holds(status), fmt.Sprintf("%+v %v", status, err)
	}
}

func injects(holds func(compose.Injected) bool) func(*compose.Service) (bool, string) {
	return func(a *compose.Service) (bool, string) {
		injected, err := a.Injected()
		return err == nil && holds(injected), fmt.Sprintf("%+v %v", injected, err)
	}
}

func TestOneNodeKilled(t *testing.T) {
	one(t, compose.Config{}, "killed",
		func(_ *scenario, a *compose.Service) { a.Kill() },
		isIn("exited"),
		func(_ *scenario, a *compose.Service) { a.Start() })
}

func TestOneNodePaused(t *testing.T) {
	one(t, compose.Config{}, "paused",
		func(_ *scenario, a *compose.Service) { a.Pause() },
		isIn("paused"),
		func(_ *scenario, a *compose.Service) { a.Unpause() })
}

func TestOneNodeCutOff(t *testing.T) {
	long(t) // TestLongPartitionHealsByItself does as much
	one(t, compose.Config{}, "cut off",
		func(s *scenario, a *compose.Service) { s.Isolate(a) },
		saysOfItself(func(status compose.Status) bool {
			return status.Node("b").State == "unreachable" && status.Node("c").State == "unreachable"
		}),
		func(s *scenario, _ *compose.Service) { s.Heal() })
}

func TestOneNodeSlow(t *testing.T) {
	long(t)
	one(t, compose.Config{}, "slow: 100 ms",
		func(_ *scenario, a *compose.Service) { a.Slow(100 * time.Millisecond) },
		injects(func(i compose.Injected) bool { return i.Delayed > 100 }),
		func(_ *scenario, a *compose.Service) { a.Slow(0) })
}

func TestOneNodeWithAFullDisk(t *testing.T) {
	one(t, compose.Config{Disk: 1 << 30}, "with a full disk",
		func(_ *scenario, a *compose.Service) { a.FillDisk(1 << 20) },
		saysOfItself(func(status compose.Status) bool { return status.Node("a").Full != "" }),
		func(_ *scenario, a *compose.Service) { a.FreeDisk() })
}

// TestOneNodeWithItsClockAnHourAhead: it uses the time of the others, so that nothing expires early or late.
func TestOneNodeWithItsClockAnHourAhead(t *testing.T) {
	long(t)
	one(t, compose.Config{}, "with its clock an hour ahead",
		func(_ *scenario, a *compose.Service) { a.ClockJump(time.Hour) },
		injects(func(i compose.Injected) bool { return i.Clock == time.Hour }),
		func(_ *scenario, a *compose.Service) { a.ClockJump(0) })
}
