package world

import (
	"context"
	"time"
)

// remembered is for how long nodes may use what another one said of the time, and its link may be thought to be up: a clock that was wrong counts as wrong for so
// long, since together with another one that goes wrong in the same way it may still be a majority.
const remembered = 3 * time.Second

// clocks sets clocks wrong, and breaks something now and then, as long as a majority has clocks that are right, and runs.
func clocks(ctx context.Context, w *World) {
	righted := map[*machine]time.Time{}
	for w.next(ctx, 50*time.Millisecond, 2*time.Second) {
		m := w.machines[w.random.IntN(len(w.machines))]
		by := time.Duration(w.random.Int64N(int64(2*time.Hour)) - int64(time.Hour))
		switch {
		case m.ahead.Load() != 0:
			by = 0
			righted[m] = time.Now()
		case !w.mayLoseClock(m, righted):
			continue
		case w.random.IntN(2) == 0: // little more than clocks may differ
			by = []time.Duration{-2 * time.Second, 2 * time.Second}[w.random.IntN(2)]
		}
		w.note("the clock of %s is ahead by %v", m.name, by)
		m.ahead.Store(by.Milliseconds())
		if w.random.IntN(3) == 0 && w.mayLoseClock(nil, righted) {
			blows[w.random.IntN(len(blows))](w)
		}
	}
}

// mayLoseClock reports whether the clocks of a majority are right, and heard, though that of one machine more, which may be any, is not: those of the others but for clocks that are wrong, or were a
// moment ago, and machines that do not run. A node that starts then with a wrong clock hears of no majority, and keeps its own.
func (w *World) mayLoseClock(one *machine, righted map[*machine]time.Time) bool {
	lost := 1
	for _, m := range w.machines {
		if m != one && (m.node == nil || m.ahead.Load() != 0 || time.Since(righted[m]) < remembered) {
			lost++
		}
	}
	return 2*lost < len(w.machines)
}
