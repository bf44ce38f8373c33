package disk

import (
	"bytes"
	"context"

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
			large, err := e.readOn(s)
			done = s.reached == engine.EndPosition || err != nil
			s.mu.Unlock()
			if err != nil {
				e.damage.add(s.number, err)
			}
			e.examine(ctx, large)
		}
	}
}

// examineStep is how many bytes examine reads at a time.
const examineStep = 64 << 10

// examine reads what the pass has left of large objects: nobody waits for it, and the source reports what cannot be read.
func (e *Engine) examine(ctx context.Context, objects []record.Object) {
	if len(objects) == 0 {
		return
	}
	buf := make([]byte, examineStep)
	for _, o := range objects {
		for r := o.Reader(); ctx.Err() == nil; {
			if _, err := r.Read(buf); err != nil {
				break
			}
		}
	}
}

// readOn moves the pass on in a slot: by readStep records, and some more if they have the
// same position. It returns the objects that it met and has not read all of.
func (e *Engine) readOn(s *slot) (large []record.Object, err error) {
	counting := s.counted < engine.EndPosition
	s.loading = s.loading || s.reached == 0
	if s.reached == engine.EndPosition || s.whole && !counting {
		s.reached = engine.EndPosition
		return nil, nil
	}
	stats, leaves, next := s.counters.Load(), s.counters.Leaves(), engine.EndPosition
	room := e.opt.Cache - e.memory.Load()
	n, last := 0, engine.EndPosition
	var met []struct {
		pos engine.Position
		survivor
	}
	err = e.scanFrom(s, s.reached, func(pos engine.Position, key []byte, rec record.Record, cached bool) bool {
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
			q := sourceOf(rec.State)
			if q == nil {
				room -= int64(rec.State.Size())
			} else {
				room -= q.memory()
				large = append(large, rec.State.Object)
			}
			room -= entryOverhead + int64(len(key))
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
		return nil, err
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
	return large, nil
}
