package world

import (
	"context"
	"time"
)

// powerCuts takes the power of all machines with nodes at once, again and again, and gives it back to one after the other.
func powerCuts(ctx context.Context, w *World) {
	for w.next(ctx, 300*time.Millisecond, 4*time.Second) {
		how := []hostState{silent, silent, killed}[w.random.IntN(3)]
		for _, m := range w.machines {
			m.crash(how)
		}
		for _, i := range w.random.Perm(len(w.machines)) {
			w.pause(ctx, 0, 500*time.Millisecond)
			w.must(w.machines[i].start())
		}
	}
}

// slowDisk makes one disk slow, in the middle of chaos now and then.
func slowDisk(ctx context.Context, w *World) {
	m := w.machines[w.random.IntN(len(w.machines))]
	for w.next(ctx, 10*time.Millisecond, 2*time.Second) {
		by := time.Duration(w.random.Int64N(int64(time.Second)))
		w.note("the disk of %s takes %v", m.name, by)
		m.store.disk().latency.Store(int64(by))
		if w.random.IntN(3) == 0 {
			blows[w.random.IntN(len(blows))](w)
		}
	}
}

// fullDisk fills disks, and makes room again.
func fullDisk(ctx context.Context, w *World) {
	for w.next(ctx, 100*time.Millisecond, 2*time.Second) {
		m := w.machines[w.random.IntN(len(w.machines))]
		full := w.random.IntN(2) == 0
		w.note("the disk of %s is full: %t", m.name, full)
		m.store.disk().full.Store(full)
		if w.random.IntN(4) == 0 {
			blows[w.random.IntN(len(blows))](w)
		}
	}
}

// badDisk has a disk fail, for a while, after which the node is started again.
func badDisk(ctx context.Context, w *World) {
	for w.next(ctx, 500*time.Millisecond, 3*time.Second) {
		m := w.victim()
		if m == nil {
			w.startSome()
			continue
		}
		w.note("the disk of %s fails", m.name)
		m.store.disk().failing.Store(true)
		w.pause(ctx, 100*time.Millisecond, 2*time.Second)
		m.crash([]hostState{killed, silent}[w.random.IntN(2)])
		m.store.disk().failing.Store(false)
		w.pause(ctx, 0, time.Second)
		w.must(m.start())
	}
}
