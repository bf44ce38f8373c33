package register

import (
	"errors"
	"slices"
	"sync/atomic"

	"github.com/quolldb/quoll/internal/record"
)

// What a batch takes long for, as a script that loops, is not done in a step of its home, since everybody waits for that: it is evaluated away from it, while the slot goes on. The keys
// wait as for any batch, for it stays the first in their queues.

// Long is the error of a Run that would take long. With is called instead, by any goroutine, while the slot goes on: so it uses nothing that belongs to the request. What it is given is its own, and
// what it returns is the home's. Drop is called, maybe meanwhile, when nobody waits for it any more; it may be nil.
type Long struct {
	With Run
	Drop func()
}

// Error is for a Run elsewhere than at a home.
func (*Long) Error() string { return "register: it takes long" }

// Evaluation is a batch that is to be run by itself. When that is done it is an Input of the home that asked for it.
type Evaluation struct {
	// Slot is that of the home.
	Slot uint16

	long    *Long
	held    []record.Record
	bases   []record.Version // the versions of the keys' heads
	now     int64
	dropped atomic.Bool

	reply   []byte
	effects []record.Effect
	err     error
}

// Run runs the batch, once. Any goroutine may call it: it takes as long as the batch does.
func (e *Evaluation) Run() {
	if !e.dropped.Load() {
		e.reply, e.effects, e.err = e.long.With(nil, e.held, e.now)
	}
}

// Drop says that nobody waits for it any more. Any goroutine may call it.
func (e *Evaluation) Drop() {
	if e.dropped.Store(true); e.long != nil && e.long.Drop != nil {
		e.long.Drop()
	}
}

// Dropped reports whether nobody waits for it any more. Any goroutine may call it.
func (e *Evaluation) Dropped() bool { return e.dropped.Load() }

// away has a batch evaluated elsewhere. What it was to be evaluated on is borrowed.
func (h *Home) away(one *batch, long *Long, keys []batchKey, held []record.Record) {
	e := &Evaluation{Slot: h.slot, long: long, now: h.in.Now, held: slices.Clone(held)}
	for i := range held {
		e.held[i].State = held[i].State.Keep()
		e.bases = append(e.bases, keys[i].base)
	}
	one.away = e
	h.count(BatchAway)
	h.out.Evaluations = append(h.out.Evaluations, e)
}

// evaluated goes on with a batch that has been evaluated elsewhere, if it still waits.
func (h *Home) evaluated(e *Evaluation) {
	if h.batches == nil {
		return
	}
	for _, one := range h.batches.queue {
		if one.away == e {
			one.away, one.evaluated = nil, e
			h.batches.lookAtOne(one)
		}
	}
}

// dropAway forgets what is evaluated elsewhere of a batch, or was.
func (b *batch) dropAway() {
	if b.away != nil {
		b.away.Drop()
	}
	b.away, b.evaluated = nil, nil
}

// cameBack returns what came of a batch elsewhere, nil if it was not there, or has to be evaluated again, since one of its keys was written meanwhile.
func (h *Home) cameBack(one *batch, g *group) *Evaluation {
	e := one.evaluated
	if one.evaluated = nil; e == nil {
		return nil
	}
	for i, ks := range one.keys {
		if g.writes(ks) || ks.head.Version != e.bases[i] {
			return nil
		}
	}
	return e
}

// runBatch runs a batch on what its keys hold, or takes what came of that elsewhere. It reports false if there is nothing to go on with now: it is run elsewhere, or waits for what others of
// its group write, which it cannot take along; or the home, or its term, has ended.
func (h *Home) runBatch(one *batch, e *Evaluation, reads bool, keys []batchKey, held []record.Record) (effects []record.Effect, done bool) {
	r := one.request
	var err error
	if e != nil {
		r.replies, effects, err = append(r.replies, e.reply...), e.effects, e.err
	} else {
		var replies []byte
		replies, effects, err = r.run(r.replies, held, h.in.Now)
		long := (*Long)(nil)
		switch {
		case !errors.As(err, &long):
		case r.whole != nil: // nobody else may do anything in its database
			replies, effects, err = long.With(r.replies, held, h.in.Now)
		default:
			if reads {
				h.away(one, long, keys, held)
			}
			return nil, false
		}
		if err == nil {
			r.replies = replies
		}
	}
	switch {
	case err != nil && h.lostTerm(): // the own replica may have written over what was being read
		h.stepDown()
	case err != nil:
		h.fail(err)
	}
	return effects, err == nil
}
