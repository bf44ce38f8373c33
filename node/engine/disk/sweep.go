package disk

import "context"

// sweeping reports whether there may be garbage.
func (e *Engine) sweeping() bool { return e.garbage.Load() > 0 }

// sweep removes what slots held before they were cleared. The flusher calls it: nothing
// is written under a former generation at the same time.
func (e *Engine) sweep(ctx context.Context) error {
	if !e.sweeping() {
		return nil
	}
	for i := range e.slots {
		if err := e.sweepSlot(ctx, &e.slots[i]); err != nil {
			return err
		}
	}
	return nil
}

func (e *Engine) sweepSlot(ctx context.Context, s *slot) error {
	for ctx.Err() == nil {
		s.mu.Lock()
		// Not what only the journal has left behind: that may yet be lost.
		generation, garbage := s.settled, s.garbage
		s.mu.Unlock()
		if !garbage || e.sources.heldBefore(s.number, generation) {
			return nil
		}
		all, err := e.sweepBefore(s.number, generation)
		if err != nil {
			return err
		}
		if !all {
			continue
		}
		s.mu.Lock()
		if s.generation == generation {
			s.garbage = false
			e.garbage.Add(-1)
		}
		s.mu.Unlock()
		return nil
	}
	return nil
}

// sweepBefore removes records of generations before one, and reports whether those were all.
func (e *Engine) sweepBefore(slot uint16, generation uint32) (all bool, err error) {
	from, to := appendGeneration(nil, slot, 0), appendGeneration(nil, slot, generation)
	// What is apart, or in parts, comes first: the records are what says that something is left to do.
	for _, prefix := range [][]byte{largePrefix, partsPrefix} {
		all, err = e.store.Drop(append(prefix[:2:2], from...), append(prefix[:2:2], to...))
		if err != nil || !all {
			return false, err
		}
	}
	return e.store.Drop(from, to)
}
