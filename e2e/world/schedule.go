package world

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"time"
)

// Schedules returns the names of what may happen to a world, as this binary was built.
func Schedules() []string {
	all := slices.Sorted(maps.Keys(schedules))
	return slices.DeleteFunc(all, func(name string) bool { return !locksPass && slices.Contains(withLocks, name) })
}

// schedules say what happens to a world until a context ends. Everything they decide follows from the seed.
var schedules = map[string]func(context.Context, *World){
	"calm":       func(context.Context, *World) {},
	"partitions": partitions,
	"restarts":   restarts,
	"chaos":      chaos,
	"powercuts":  powerCuts,
	"slowdisk":   slowDisk,
	"fulldisk":   fullDisk,
	"baddisk":    badDisk,
	"clocks":     clocks,
	"overload":   overload,
	"churn":      churn,
	"refound":    refounds,
}

// withLocks are those in which somebody waits with a lock held: see locks.go.
var withLocks = []string{"slowdisk", "fulldisk", "baddisk", "overload"}

// enginesFor returns those that nodes may have in a schedule, of memory, disk and pebble. Goroutines of Pebble's that cannot write wait until the process
// ends (engine/pebble), which here is the end of no process.
func enginesFor(schedule string) []string {
	switch schedule {
	case "fulldisk", "baddisk":
		return []string{"disk"}
	case "powercuts", "slowdisk", "overload":
		return []string{"disk", "pebble"}
	}
	return []string{"memory", "disk", "pebble"}
}

// pause waits for a random time, and reports false if the schedule has ended meanwhile.
func (w *World) pause(ctx context.Context, least, most time.Duration) bool {
	return sleep(ctx, least+time.Duration(w.random.Int64N(int64(most-least)))) == nil
}

// next waits for a random time until the next fault of the plan, and reports false if the schedule has ended meanwhile. Each fault has random
// numbers of its own, so that it is the same when others are left out.
func (w *World) next(ctx context.Context, least, most time.Duration) bool {
	for {
		w.fault++
		w.random = randomOf(w.cfg.Seed, "fault", w.cfg.Schedule, strconv.Itoa(w.fault))
		if !w.pause(ctx, least, most) {
			return false
		}
		if w.cfg.Faults.has(w.fault) {
			return true
		}
	}
}

// restarts stops one node after the other, in order or not, and starts it again: never two at once.
func restarts(ctx context.Context, w *World) {
	for w.next(ctx, 200*time.Millisecond, 2*time.Second) {
		m := w.machines[w.fault%len(w.machines)]
		if w.random.IntN(2) == 0 {
			w.must(m.stop())
		} else {
			m.crash(killed)
		}
		w.pause(ctx, 0, time.Second)
		w.must(m.start())
		for m.node != nil && m.node.Ready(ctx) != nil && sleep(ctx, 50*time.Millisecond) == nil {
		}
	}
}

// partitions cuts the network into two parts again and again, sometimes in one direction only.
func partitions(ctx context.Context, w *World) {
	for w.next(ctx, 100*time.Millisecond, 3*time.Second) {
		w.partition()
		w.pause(ctx, 200*time.Millisecond, 6*time.Second)
		w.note("the network is whole")
		w.net.heal()
	}
}

// partition cuts the network into two parts.
func (w *World) partition() {
	names := w.names()
	w.random.Shuffle(len(names), func(i, j int) { names[i], names[j] = names[j], names[i] })
	n := 1 + w.random.IntN(len(names)-1)
	both := w.random.IntN(3) > 0
	w.note("cut off: %v from %v, in both directions: %t", names[:n], names[n:], both)
	for _, a := range names[:n] {
		for _, b := range names[n:] {
			w.net.cut(a, b, true)
			if both {
				w.net.cut(b, a, true)
			}
		}
	}
}

// names are those of the nodes and the proxies.
func (w *World) names() (names []string) {
	for _, m := range w.machines {
		names = append(names, m.name)
	}
	for _, p := range w.proxies {
		names = append(names, p.name)
	}
	return names
}
