package route

import (
	"time"

	"github.com/quolldb/quoll/internal/record"
)

// Changed is a key, as clients name it, of whatever database, that may have changed: in this version, if that takes effect. A slot has each version once: it is of one write of one key, or
// of what clears all of them.
type Changed struct {
	Slot    uint16
	Version record.Version
	Key     []byte
}

// gather is what is about to be told of a prefix. A version waits until a majority has told of it, which for one that is chosen is a moment after the first has, and all wait for one another:
// so the keys of one command are told together, and each once. Under the lock of all.
type gather struct {
	due   map[version]*dueVersion
	armed bool   // there will be a tick
	turn  uint64 // of armed: earlier ones do not count
}

// dueVersion is a version that is to be told.
type dueVersion struct {
	*tellers
	ticks int // that it has waited
}

// A version that a majority has told of waits for others for a tick at most. One that no majority has told of, which may be as it is for ever, waits for maxTicks: then it is told, and once
// more whenever another node tells of it, until a majority has (rule 5 of watching, package protocol).
const (
	gatherTick = 5 * time.Millisecond
	maxTicks   = 10
)

// keep notes that a version is to be told. The lock is held.
func (w *prefixWatch) keep(of version, h *tellers) {
	if w.due == nil {
		w.due = map[version]*dueVersion{}
	}
	if d := w.due[of]; d != nil {
		d.tellers = h
		return
	}
	w.due[of] = &dueVersion{tellers: h}
}

// gathered has what is due be told: at once, if a majority has told of all of it, or later. The lock is held.
func (w *prefixWatch) gathered(list []news) []news {
	for _, d := range w.due {
		if !d.most {
			w.arm()
			return list
		}
	}
	w.armed = false
	return w.release(list)
}

// arm sees to it that there will be a tick. The lock is held.
func (w *prefixWatch) arm() {
	if w.armed {
		return
	}
	w.armed = true
	w.turn++
	turn := w.turn
	w.of.later(gatherTick, func() { w.gatherTick(turn) })
}

// gatherTick tells what has waited for long enough.
func (w *prefixWatch) gatherTick(turn uint64) {
	w.of.mu.Lock()
	if !w.armed || w.turn != turn || w.of.prefixes[w.id] == nil {
		w.of.mu.Unlock()
		return
	}
	w.armed = false
	for _, d := range w.due {
		d.ticks++
	}
	list := w.release(nil)
	if len(w.due) > 0 {
		w.arm()
	}
	w.of.mu.Unlock()
	tellNews(list)
}

// release tells, of what is due, what a majority has told of, and what has waited for too long. The lock is held.
func (w *prefixWatch) release(list []news) []news {
	var changed []Changed
	cleared := false
	for of, d := range w.due {
		if !d.most && d.ticks < maxTicks {
			continue
		}
		delete(w.due, of)
		if cleared = cleared || of.cleared; !of.cleared {
			changed = append(changed, Changed{of.slot, of.version, []byte(of.key)})
		}
	}
	if len(changed) > 0 {
		list = append(list, news{w, changed})
	}
	if cleared {
		list = append(list, news{w: w})
	}
	return list
}

// later calls something in a while.
func (ws *watches) later(wait time.Duration, f func()) {
	if ws.timer != nil {
		ws.timer(f)
		return
	}
	time.AfterFunc(wait, f)
}
