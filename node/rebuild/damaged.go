package rebuild

import (
	"fmt"
	"slices"
	"sync"
)

// damaged is the slots that cannot be read, in the order in which they were found.
type damaged struct {
	mu   sync.Mutex
	list []unreadable
}

// unreadable is one of them.
type unreadable struct {
	slot uint16
	err  error
}

// Add has a slot rebuilt that cannot be read. The slot may be locked.
func (r *Rebuilder) Add(slot uint16, err error) {
	d := &r.damaged
	d.mu.Lock()
	d.list = append(d.list, unreadable{slot, fmt.Errorf("slot %d: %w", slot, err)})
	d.mu.Unlock()
	r.Soon()
}

func (d *damaged) remove(slot uint16) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.list = slices.DeleteFunc(d.list, func(u unreadable) bool { return u.slot == slot })
}

// Damaged returns the slots that are damaged, and what was found of the first of them.
func (r *Rebuilder) Damaged() (slots []uint16, first error) {
	d := &r.damaged
	d.mu.Lock()
	defer d.mu.Unlock()
	for _, u := range d.list {
		slots = append(slots, u.slot)
	}
	if len(d.list) > 0 {
		first = d.list[0].err
	}
	return slots, first
}
