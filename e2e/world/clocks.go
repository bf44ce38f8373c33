package world

import (
	"context"
	"time"
)

// clocks sets clocks wrong, never most of them at once, and breaks something now and then.
func clocks(ctx context.Context, w *World) {
	for w.next(ctx, 50*time.Millisecond, 2*time.Second) {
		m := w.machines[w.random.IntN(len(w.machines))]
		by := time.Duration(w.random.Int64N(int64(2*time.Hour)) - int64(time.Hour))
		switch {
		case m.ahead.Load() != 0:
			by = 0
		case 2*(w.wrongClocks()+1) >= len(w.machines):
			continue
		case w.random.IntN(2) == 0: // little more than clocks may differ
			by = []time.Duration{-2 * time.Second, 2 * time.Second}[w.random.IntN(2)]
		}
		w.note("the clock of %s is ahead by %v", m.name, by)
		m.ahead.Store(by.Milliseconds())
		if w.random.IntN(3) == 0 {
			blows[w.random.IntN(len(blows))](w)
		}
	}
}

// wrongClocks is how many machines have a wrong clock.
func (w *World) wrongClocks() (n int) {
	for _, m := range w.machines {
		if m.ahead.Load() != 0 {
			n++
		}
	}
	return n
}
