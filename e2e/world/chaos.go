package world

import (
	"context"
	"errors"
	"time"

	"github.com/quolldb/quoll/node/engine"
)

// chaos does everything at once.
func chaos(ctx context.Context, w *World) {
	for w.next(ctx, 20*time.Millisecond, 1500*time.Millisecond) {
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
	if 2*(len(up)-1) < w.inUse() && w.random.IntN(4) > 0 || len(up) == 0 {
		return nil
	}
	return up[w.random.IntN(len(up))]
}

// inUse is how many machines are.
func (w *World) inUse() (n int) {
	for _, m := range w.machines {
		if !m.retired {
			n++
		}
	}
	return n
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
	if w.random.IntN(2) > 0 {
		p.crash()
		return
	}
	// What nodes say that they are behind with is waited for, longer than a stop may take: it is not in order then, and no fault.
	if err := p.stop(); !errors.Is(err, context.DeadlineExceeded) {
		w.must(err)
	}
}

// must ends the world: something failed that may not. That a node does not start on a full disk is as it should be.
func (w *World) must(err error) {
	if err == nil {
		return
	}
	w.note("%v", err)
	if !errors.Is(err, engine.ErrFull) {
		w.failures = append(w.failures, err)
	}
}
