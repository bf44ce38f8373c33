package disk

import (
	"bytes"
	"context"
	"sync"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

// readStep is how many records the background pass reads before it lets others have the
// slot.
const readStep = 256

// readSlots is the background pass after a start: it counts what has to be counted, and
// brings into memory what fits there. It ends with ctx or when all slots are done.
func (e *Engine) readSlots(ctx context.Context) {
	for i := range e.slots {
		s := &e.slots[i]
		for done := false; !done && ctx.Err() == nil; {
			s.mu.Lock()
			err := e.readOn(s)
			done = s.reached == engine.EndPosition || err != nil
			s.mu.Unlock()
			if err != nil {
				e.damage.add(s.number, err)
			}
		}
	}
}

// readOn moves the pass on in a slot: by readStep records, and some more if they have the
// same position.
func (e *Engine) readOn(s *slot) error {
	counting := s.counted < engine.EndPosition
	s.loading = s.loading || s.reached == 0
	if s.reached == engine.EndPosition || s.whole && !counting {
		s.reached = engine.EndPosition
		return nil
	}
	stats, leaves, next := s.counters.Load(), s.counters.Leaves(), engine.EndPosition
	room := e.opt.Cache - e.memory.Load()
	n, last := 0, engine.EndPosition
	var met []struct {
		pos engine.Position
		survivor
	}
	err := e.scanFrom(s, s.reached, func(pos engine.Position, key []byte, rec record.Record, cached bool) bool {
		if n >= readStep && pos != last {
			next = pos
			return false
		}
		n, last = n+1, pos
		stats.Add(key, rec)
		leaves.Add(pos, rec.Version)
		s.newest = record.Max(s.newest, rec.Version)
		s.expiry = engine.Earlier(s.expiry, rec.State)
		if !cached {
			room -= entryOverhead + int64(len(key)+rec.State.Size())
			if s.loading = s.loading && room > 0; s.loading {
				met = append(met, struct {
					pos engine.Position
					survivor
				}{pos, survivor{bytes.Clone(key), rec}})
			}
		}
		return counting || s.loading
	})
	if err != nil {
		return err
	}
	for _, m := range met {
		e.keep(s, m.pos, m.key, m.rec, true)
	}
	if counting {
		s.counters.Replace(stats, leaves)
		s.counted = next
	}
	s.reached = next
	s.whole = s.whole || s.loading && next == engine.EndPosition
	return nil
}

// damage is what the background pass found out of slots that cannot be read, until somebody wants to know.
type damage struct {
	mu     sync.Mutex
	found  []unreadable
	report func(slot uint16, err error)
}

type unreadable struct {
	slot uint16
	err  error
}

func (d *damage) add(slot uint16, err error) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.report == nil {
		d.found = append(d.found, unreadable{slot, err})
		return
	}
	d.report(slot, err)
}

// ReportDamage has report called for every slot that the engine finds it cannot read when it reads all of them after
// a start: for those found already before it returns, for others later and from another goroutine, one at a time and
// never from within a call of the engine. err wraps engine.ErrCorrupt. What Get and Scan meet they return.
func (e *Engine) ReportDamage(report func(slot uint16, err error)) {
	d := &e.damage
	d.mu.Lock()
	defer d.mu.Unlock()
	d.report = report
	for _, u := range d.found {
		report(u.slot, u.err)
	}
	d.found = nil
}
