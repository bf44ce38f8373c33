package disk

import (
	"context"
	"sync"
)

// doubt is what a slot of some generation had that could not be read, when it was needed.
type doubt struct {
	slot       uint16
	generation uint32
	err        error
}

// doubts are those that nobody has been told of. Who adds one may have locked anything.
type doubts struct {
	mu   sync.Mutex
	list []doubt
}

func (d *doubts) add(one doubt) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = append(d.list, one)
}

func (d *doubts) take() []doubt {
	d.mu.Lock()
	defer d.mu.Unlock()
	list := d.list
	d.list = nil
	return list
}

// reporter reports what could not be read when it was needed, unless what the slot held then is no more, until ctx ends.
func (e *Engine) reporter(ctx context.Context) {
	for {
		select {
		case <-ctx.Done():
			return
		case <-e.reportNow:
		}
		for _, d := range e.doubts.take() {
			s := &e.slots[d.slot]
			s.mu.Lock()
			current := s.generation == d.generation
			s.mu.Unlock()
			if current {
				e.damage.add(d.slot, d.err)
			}
		}
	}
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
