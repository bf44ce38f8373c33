package verify

import (
	"fmt"
	"strconv"
	"sync"
)

// register judges a key, or fields of a hash, that one client sets to 1, 2, 3, … and anybody reads. It is safe for concurrent
// use, and does nothing by itself.
type register struct {
	place

	mu    sync.Mutex
	sent  int64 // the newest value that was sent
	acked int64 // the newest that was acknowledged
	seen  int64 // the newest that was read by anybody
	// refused are values whose write was answered with an error, and that are newer than acked.
	refused map[int64]bool
	// evicts: it may be evicted. gone is the newest value that had been acknowledged or read before somebody found nothing there: that one, and those before it, do not come back.
	evicts bool
	gone   int64
}

// floor is what a read that begins now may not fall behind.
type floor struct{ acked, seen, gone int64 }

func (f floor) newest() int64 { return max(f.acked, f.seen) }

// next returns the value to write now.
func (r *register) next() int64 {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.sent++
	return r.sent
}

// wrote notes that a value was acknowledged.
func (r *register) wrote(value int64) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.acked, r.refused = value, nil
}

// refuse notes that the answer said that a write did nothing.
func (r *register) refuse(value int64) *Finding {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.refused == nil {
		r.refused = map[int64]bool{}
	}
	r.refused[value] = true
	if r.seen == value {
		return r.wrong("the value %d was read, but its write was answered with an error", value)
	}
	return nil
}

// floor is asked for when a read begins.
func (r *register) floor() floor {
	r.mu.Lock()
	defer r.mu.Unlock()
	return floor{r.acked, r.seen, r.gone}
}

// read judges the answer to a read. Old means that it is older than the floor: whether it is lost or only stale is known when all
// addresses have been asked.
func (r *register) read(at floor, reply answer) (found *Finding, old bool) {
	value := int64(0)
	if !reply.null {
		var err error
		value, err = strconv.ParseInt(reply.text, 10, 64)
		if err != nil || value <= 0 {
			return r.wrong("the value %.60q was read, which nobody wrote", reply.text), false
		}
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	switch {
	case value > r.sent:
		return r.wrong("the value %d was read, but %d is the newest that was sent", value, r.sent), false
	case r.refused[value]:
		return r.wrong("the value %d was read, but its write was answered with an error", value), false
	}
	if r.evicts && value == 0 {
		r.gone = max(r.gone, at.newest())
		return nil, false
	}
	if value > 0 && value <= at.gone {
		return r.wrong("the value %d was read after nothing had been found there, when %d had been written already: what was evicted came back", value, at.gone), false
	}
	r.seen = max(r.seen, value)
	return nil, value < at.newest()
}

// older is the verdict on an old answer. Everywhere means that no address has the acknowledged value or a newer one.
func (r *register) older(at floor, reply answer, everywhere bool) *Finding {
	if everywhere && at.acked >= at.seen && at.acked > 0 {
		return &Finding{Lost, r.name(), fmt.Sprintf("%d was acknowledged, and no address has it or a newer value: %s", at.acked, reply)}
	}
	return &Finding{Stale, r.name(), fmt.Sprintf("%s was read after %d had been acknowledged and %d read", reply, at.acked, at.seen)}
}
