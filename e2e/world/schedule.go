package world

import (
	"context"
	"maps"
	"slices"
	"time"
)

// Schedules returns the names of what may happen to a world.
func Schedules() []string { return slices.Sorted(maps.Keys(schedules)) }

// schedules say what happens to a world until a context ends. Everything they decide follows from the seed.
var schedules = map[string]func(context.Context, *World){
	"calm":       func(context.Context, *World) {},
	"partitions": partitions,
	"restarts":   restarts,
	"chaos":      chaos,
}

// pause waits for a random time, and reports false if the schedule has ended meanwhile.
func (w *World) pause(ctx context.Context, least, most time.Duration) bool {
	return sleep(ctx, least+time.Duration(w.random.Int64N(int64(most-least)))) == nil
}

// restarts stops one node after the other, in order or not, and starts it again: never two at once.
func restarts(ctx context.Context, w *World) {
	for i := 0; w.pause(ctx, 200*time.Millisecond, 2*time.Second); i++ {
		m := w.machines[i%len(w.machines)]
		if w.random.IntN(2) == 0 {
			w.must(m.stop())
		} else {
			m.crash(killed)
		}
		w.pause(ctx, 0, time.Second)
		w.must(m.start())
		for m.node.Ready(ctx) != nil && sleep(ctx, 50*time.Millisecond) == nil {
		}
	}
}

// partitions cuts the network into two parts again and again, sometimes in one direction only.
func partitions(ctx context.Context, w *World) {
	for w.pause(ctx, 100*time.Millisecond, 3*time.Second) {
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

// chaos does everything at once.
func chaos(ctx context.Context, w *World) {
	for w.pause(ctx, 20*time.Millisecond, 1500*time.Millisecond) {
		blows[w.random.IntN(len(blows))](w)
	}
}

// blows are what chaos consists of.
var blows = []func(*World){
	(*World).partition,
	(*World).cutOne, (*World).cutOne,
	(*World).healAll, (*World).healAll, (*World).healAll,
	(*World).resetOne, (*World).resetOne,
	(*World).slowDown, (*World).lose,
	(*World).crashOne, (*World).crashOne,
	(*World).stopOne,
	(*World).startSome, (*World).startSome, (*World).startSome, (*World).startSome,
	(*World).bounceProxy,
}

// two returns two different hosts.
func (w *World) two() (a, b string) {
	names := w.names()
	i := w.random.IntN(len(names))
	return names[i], names[(i+1+w.random.IntN(len(names)-1))%len(names)]
}

func (w *World) cutOne() {
	a, b := w.two()
	w.note("nothing arrives from %s at %s", a, b)
	w.net.cut(a, b, true)
}

func (w *World) healAll() {
	w.note("the network is whole")
	w.net.heal()
}

func (w *World) resetOne() {
	a, b := w.two()
	w.note("connections between %s and %s are reset", a, b)
	w.net.reset(a, b)
}

// slowDown makes all paths to a host slow.
func (w *World) slowDown() {
	names := w.names()
	to := names[w.random.IntN(len(names))]
	by := time.Duration(w.random.Int64N(int64(300 * time.Millisecond)))
	w.note("what is sent to %s takes up to %s longer", to, by)
	for _, from := range names {
		w.net.path(from, to).jitter.Store(int64(usualJitter + by))
	}
}

// lose makes a path lose packets, which are sent again.
func (w *World) lose() {
	a, b := w.two()
	w.note("packets from %s to %s are lost", a, b)
	w.net.path(a, b).lossy.Store(w.random.Int64N(300))
}

// crashOne ends a node, if most others run.
func (w *World) crashOne() {
	if m := w.victim(); m != nil {
		m.crash([]hostState{killed, silent}[w.random.IntN(2)])
	}
}

// stopOne stops a node in order, if most others run.
func (w *World) stopOne() {
	if m := w.victim(); m != nil {
		w.must(m.stop())
	}
}

// victim is a node that runs, unless so many do not that no more may end: nothing would be learned of a cluster that has no majority for long.
func (w *World) victim() *machine {
	up := w.up()
	if 2*(len(up)-1) < len(w.machines) && w.random.IntN(4) > 0 || len(up) == 0 {
		return nil
	}
	return up[w.random.IntN(len(up))]
}

// startSome starts some of what does not run.
func (w *World) startSome() {
	for _, m := range w.machines {
		if m.node == nil && w.random.IntN(2) == 0 {
			w.must(m.start())
		}
	}
	for _, p := range w.proxies {
		w.must(p.start())
	}
}

// bounceProxy ends a proxy, in order or not.
func (w *World) bounceProxy() {
	p := w.proxies[w.random.IntN(len(w.proxies))]
	if w.random.IntN(2) == 0 {
		w.must(p.stop())
	} else {
		p.crash()
	}
}

// must ends the world: something failed that may not.
func (w *World) must(err error) {
	if err != nil {
		w.note("%v", err)
		w.failures = append(w.failures, err)
	}
}
