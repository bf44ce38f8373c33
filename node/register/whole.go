package register

import (
	"bytes"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/record"
)

// Batches that read all keys of a database that is placed together: those that are there, and that others are not. See protocol.md, B10 to B12.

// Whole has a batch read all keys of a database that is placed together. The batch names those that it knows of, and the name that stands for all (database.ID.All). What
// the home finds out about that it leaves here before each time that it runs the batch.
type Whole struct {
	Database database.ID
	// Listed: before the batch came a quorum has shown what keys it holds, and each of it had promised this ballot, or a later one (B10).
	Listed record.Ballot

	// Unlisted: that was in a term before the one in which the batch is run, and Missing are keys that there may be beside those that the batch names. In both cases it may not do anything.
	Unlisted bool
	Missing  [][]byte
}

// maxMissing is how many missing keys are named at once: no batch may have more.
const maxMissing = command.MostListed

// ReadAll has a batch read all keys of a database.
func (r *Request) ReadAll(w *Whole) { r.whole = w }

// databases are some of those that are placed together, by ID.
type databases uint32

var _ [32 - database.IDs]struct{} // each has a bit

func (d databases) has(id database.ID) bool { return d>>id&1 != 0 }

// whole returns the databases of which a batch of the record reads all keys.
func (b *batchRecord) whole() (all databases) {
	for i := range b.keys {
		if id, ok := database.AllOf(b.keys[i].name); ok {
			all |= 1 << id
		}
	}
	return all
}

// placedTogether returns the database of a key, if it is one that is placed together.
func placedTogether(key []byte) (id database.ID, is bool) {
	if id, is = database.AllOf(key); is {
		return id, true
	}
	id, _ = database.Split(key)
	return id, id.Together()
}

// excluded reports whether nothing may be done on a key yet, because of its database: a batch that reads all of its keys is being written, or this term has not begun its record.
func (h *Home) excluded(ks *keyState) bool {
	id, is := placedTogether(ks.key)
	if !is {
		return false
	}
	b := h.ownBatches()
	if !b.begun {
		b.needed = b.needed || len(ks.doubt) > 0 || ks.queue[0].batch == nil
		return !h.undecided(ks)
	}
	return (b.stage == deciding || b.stage == recording) && b.whole.has(id) && !ks.barred
}

// readsEarly reports whether a key that waits for the term to begin its record may be read from the members meanwhile, which saves a round: nothing comes of that before.
func (h *Home) readsEarly(ks *keyState) bool {
	return !h.batches.begun && !ks.known && len(ks.doubt) == 0 && !ks.queue[0].blind
}

// refusesFull takes the first request of a key from its queue that waits for the term to begin its record, for which there is no room.
func (h *Home) refusesFull(ks *keyState) bool {
	if h.batches.begun || !h.in.Full || len(ks.doubt) > 0 || ks.queue[0].batch != nil {
		return false
	}
	h.noRoom(ks.shift())
	h.batches.lookAt(ks)
	return true
}

// tooEarly reports whether the head of a key may not be written again yet, for it is of a database that is placed together, and the term has not begun its record. The record of a batch begins it
// as well, if it needs no such write.
func (h *Home) tooEarly(ks *keyState) bool {
	_, is := placedTogether(ks.key)
	if !is || h.batches.begun {
		return false
	}
	h.batches.needed = true
	return true
}

// beginRecord writes the record first of all, if somebody needs that (B12): it is closed, for nobody who has promised this term knows of an open one.
func (h *Home) beginRecord() bool {
	b := h.batches
	if !b.needed || b.begun || h.in.Full || h.clear.underWay() {
		return false
	}
	ks := h.batchKeyState()
	if h.phase != leading || ks.reading != nil || len(ks.doubt) > 0 { // looking it up may have ended the home
		return false
	}
	h.count(RecordBegun)
	b.record = batchRecord{origin: b.origin}
	h.closeRecord(ks)
	h.pin(BatchKey, true)
	return true
}

// underWay reports whether a clear has been sent that no quorum holds yet.
func (c *clearState) underWay() bool {
	return len(c.waiting) > 0 || !c.version.IsZero() && !c.settled
}

// liftDatabases lets the keys go on that have waited for their database.
func (h *Home) liftDatabases() {
	b := h.batches
	if b == nil || b.whole == 0 && !b.needed {
		return
	}
	b.whole, b.needed = 0, false
	for _, ks := range h.keys.snapshot() {
		if h.phase != leading {
			return
		}
		if _, is := placedTogether(ks.key); is && len(ks.queue)+len(ks.doubt) > 0 {
			h.advance(ks)
		}
	}
}

// survey finds out which keys of the database there may be that the batch does not name (B10): those that this term has written the own replica has, and of those that are not
// settled yet the home knows. It reports false if that ends the home.
func (h *Home) survey(one *batch) bool {
	w := one.request.whole
	w.Unlisted, w.Missing = w.Listed.Less(h.ballot), w.Missing[:0]
	if w.Unlisted {
		return true
	}
	named := make(map[string]struct{}, len(one.keys))
	for _, ks := range one.keys {
		named[string(ks.key)] = struct{}{}
	}
	miss := func(key []byte) bool {
		if _, is := named[string(key)]; !is {
			named[string(key)] = struct{}{}
			w.Missing = append(w.Missing, bytes.Clone(key))
		}
		return len(w.Missing) < maxMissing
	}
	for _, ks := range h.keys.all() {
		if id, _ := database.Split(ks.key); id == w.Database && h.mayExist(ks) {
			miss(ks.key)
		}
	}
	if err := h.local.store.Names(h.slot, w.Database, miss); err != nil {
		h.fail(err)
		return false
	}
	return true
}

// mayExist reports whether a key holds something, or nobody can tell yet.
func (h *Home) mayExist(ks *keyState) bool {
	switch {
	case ks.reading != nil || len(ks.doubt) > 0:
		return true
	case !ks.known: // this term has done nothing with it: who listed the keys has found it, if it is there
		return false
	case ks.agreed || ks.head.Version.Ballot == h.ballot && h.holds(ks, ks.head.Version.Seq):
		return ks.head.State.Live()
	}
	return true
}
