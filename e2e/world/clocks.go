package world

import (
	"context"
	"time"
)

// remembered is for how long nodes may use what another one said of the time, and its link may be thought to be up: a clock that was wrong counts as wrong for so
// long, since together with another one that goes wrong in the same way it may still be a majority.
const remembered = 3 * time.Second

// clocks sets clocks wrong, never most of them at once, and breaks something now and then.
func clocks(ctx context.Context, w *World) {
	righted := map[*machine]time.Time{}
	for w.next(ctx, 50*time.Millisecond, 2*time.Second) {
		m := w.machines[w.random.IntN(len(w.machines))]
		by := time.Duration(w.random.Int64N(int64(2*time.Hour)) - int64(time.Hour))
		switch {
		case m.ahead.Load() != 0:
			by = 0
			righted[m] = time.Now()
		case 2*(w.wrongClocks(m, righted)+1) >= len(w.machines):
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

// wrongClocks is how many machines besides one have a clock that is wrong, or was a moment ago.
func (w *World) wrongClocks(besides *machine, righted map[*machine]time.Time) (n int) {
	for _, m := range w.machines {
		if m != besides && (m.ahead.Load() != 0 || time.Since(righted[m]) < remembered) {
			n++
		}
	}
	return n
}
