//go:build linux

package scenarios

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/quolldb/quoll/e2e/compose"
)

// breaker makes faults.
type breaker struct {
	*scenario
	random *rand.Rand
	struck []struckFault
	done   map[string]int // by kind
}

// struckFault is a fault at work. Each has its service for itself, so that ends fit their beginnings.
type struckFault struct {
	on   *compose.Service
	mend func()
}

// kind is a fault of one service: what breaks it and what mends it.
type kind struct {
	name     string
	nodeOnly bool
	breaks   func(*breaker, *compose.Service) (mend func())
}

var kinds = []kind{
	{"killed", false, func(_ *breaker, s *compose.Service) func() { s.Kill(); return s.Start }},
	{"stopped", false, func(_ *breaker, s *compose.Service) func() { s.Stop(); return s.Start }},
	{"paused", false, func(_ *breaker, s *compose.Service) func() { s.Pause(); return s.Unpause }},
	{"cut off", false, func(b *breaker, s *compose.Service) func() { b.Isolate(s); return func() { b.Join(s) } }},
	{"not heard by another", false, func(b *breaker, s *compose.Service) func() {
		b.Cut(s, b.another(s))
		return func() { b.Join(s) }
	}},
	{"loses packets", false, func(b *breaker, s *compose.Service) func() {
		b.Drop(s, 0.02+0.2*b.random.Float64())
		return func() { b.Join(s) }
	}},
	{"throttled", false, func(b *breaker, s *compose.Service) func() {
		b.Throttle(s, "2mbit")
		return func() { b.Throttle(s, "") }
	}},
	{"slow", false, func(b *breaker, s *compose.Service) func() {
		s.Slow(time.Duration(10+b.random.IntN(290)) * time.Millisecond)
		return func() { s.Slow(0) }
	}},
	{"clock wrong", true, func(b *breaker, s *compose.Service) func() {
		s.ClockJump(time.Duration(b.random.IntN(7200)-3600) * time.Second)
		return func() { s.ClockJump(0) }
	}},
	{"disk full", true, func(_ *breaker, s *compose.Service) func() { s.FillDisk(1 << 20); return s.FreeDisk }},
}

// work breaks and mends at random for some time, and asks after each step whether all is right. In the end
// all is mended, and the cluster healthy.
func (b *breaker) work(d time.Duration, right func()) {
	for end := time.Now().Add(d); time.Now().Before(end); {
		if len(b.struck) == soakFaults || len(b.struck) > 0 && b.random.IntN(2) == 0 {
			b.mendOne()
		} else {
			b.breakOne()
		}
		time.Sleep(time.Duration(b.random.Int64N(2 * int64(soakPause))))
		right()
	}
	if b.random.IntN(3) == 0 {
		b.killAll()
	}
	for len(b.struck) > 0 {
		b.mendOne()
	}
	b.AwaitHealthy()
}

// breakOne strikes a service that has no other fault.
func (b *breaker) breakOne() {
	var whole []*compose.Service
	for _, s := range b.Services() {
		if !slices.ContainsFunc(b.struck, func(f struckFault) bool { return f.on == s }) {
			whole = append(whole, s)
		}
	}
	s, kind := whole[b.random.IntN(len(whole))], kinds[b.random.IntN(len(kinds))]
	if kind.nodeOnly && !s.Node {
		return
	}
	b.done[kind.name]++
	f := b.strike(fmt.Sprint(s.Name, " ", kind.name), func() {})
	mend := kind.breaks(b, s)
	b.struck = append(b.struck, struckFault{s, func() {
		mend()
		f.over()
		b.load.note("mended: %s", f.label)
	}})
}

// mendOne mends any of the faults.
func (b *breaker) mendOne() {
	i := b.random.IntN(len(b.struck))
	f := b.struck[i]
	b.struck = slices.Delete(b.struck, i, i+1)
	f.mend()
}

// killAll mends everything and kills all nodes at the same moment.
func (b *breaker) killAll() {
	for len(b.struck) > 0 {
		b.mendOne()
	}
	b.done["all nodes killed"]++
	f := b.strike("all nodes killed", func() { b.KillAll(b.Nodes...) })
	time.Sleep(time.Second)
	b.StartAll(b.Nodes...)
	f.over()
}

// another is any other service.
func (b *breaker) another(than *compose.Service) *compose.Service {
	all := slices.DeleteFunc(b.Services(), func(s *compose.Service) bool { return s == than })
	return all[b.random.IntN(len(all))]
}
