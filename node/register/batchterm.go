package register

import (
	"bytes"
	"slices"

	"github.com/quolldb/quoll/internal/record"
)

// What becomes of a batch whose term has ended.

// recoverBatch begins with a term in which some replica has promised that knows of an open batch: nothing is done on any key of the slot until it
// is known which keys that has (B6).
func (h *Home) recoverBatch() {
	ks := h.batchKeyState()
	if h.failed != nil {
		return
	}
	h.ownBatches().stage, ks.pinned = seeking, true
	if ks.reading == nil {
		h.read(ks)
	}
}

// undecided reports whether a key is one of a batch of a former term that has not been decided on: nothing may be written to it yet, and so nothing decided that has
// to be made final by that (R11).
func (h *Home) undecided(ks *keyState) bool {
	return h.batches != nil && h.batches.stage == deciding && slices.Contains(h.batches.group[0].keys, ks)
}

// heldBack reports whether nothing may be done on a key until more is known of the batch of a former term.
func (h *Home) heldBack(ks *keyState) bool {
	if h.batches == nil {
		return false
	}
	switch own := bytes.Equal(ks.key, BatchKey); h.batches.stage {
	case seeking:
		return !own
	case deciding: // the record is not written again as it is: it names writes of another term
		return own
	}
	return false
}

// batchFound is told what a sync-read found in the record of batches.
func (h *Home) batchFound(ks *keyState, floor record.Version) {
	b := h.ownBatches()
	seen := b.stage == seeking
	open := &openBatch{version: ks.head.Version}
	found, err := parseBatch(ks.head.State)
	if err != nil {
		h.fail(err)
		return
	}
	open.batchRecord = *found
	switch {
	case !open.open():
		if seen {
			b.stage = free
			h.pin(BatchKey, false)
		}
		h.resolve(ks, floor, open.origin)
	case !seen: // nobody of the quorum that promised knew of it: it was not chosen, and will not be
		b.found, b.floor = open, floor
		h.discardBatch()
	default:
		b.found, b.floor, b.stage, b.whole = open, floor, deciding, open.whole()
		names := make([][]byte, 0, len(open.keys))
		for i := range open.keys {
			names = append(names, open.keys[i].name)
		}
		one := h.newBatch(nil, names)
		for _, ks := range one.keys {
			ks.queue = slices.Insert(ks.queue, 0, &one.marker)
		}
		b.group = []*batch{one}
	}
}

// decideBatch decides on the batch of a former term when all its keys have been read: nobody has done anything since that did not know of it, or it
// was not chosen (B6).
func (h *Home) decideBatch() bool {
	b := h.batches
	one := b.group[0]
	if slices.ContainsFunc(one.keys, func(ks *keyState) bool { return !ks.known }) {
		return false
	}
	if b.found.version.Ballot.Less(b.floor.Ballot) ||
		slices.ContainsFunc(one.keys, func(ks *keyState) bool { return b.found.version.Ballot.Less(ks.head.Version.Ballot) }) {
		h.count(BatchDropped)
		h.discardBatch()
		return true
	}
	h.count(BatchCompleted)
	h.completeBatch(one)
	return true
}

// completeBatch writes the batch again, in this term: those of its keys that do not surely have what they are to get.
func (h *Home) completeBatch(one *batch) {
	b := h.batches
	next := batchRecord{origin: b.found.version}
	for i, ks := range one.keys {
		k := b.found.keys[i]
		v := ks.head.Version
		if has := k.seq != 0 && v.Ballot == b.found.version.Ballot && v.Seq >= k.seq; has {
			state, ok := h.headState(ks)
			if !ok {
				return
			}
			if k.state, k.base = cloneState(state), v; ks.agreed {
				k.seq = 0
			}
		}
		next.keys = append(next.keys, k)
	}
	ks := h.batchKeyState()
	redo := h.decide(ks, h.seq+1, true, record.Version{}, b.found.origin, b.found.version)
	h.propose(ks, next.effect(h.seq+1, nil), false)
	b.origin, b.found = b.found.version, nil
	h.opened(next, b.group)
	h.doAgain(ks, redo)
	h.advance(ks)
}

// discardBatch closes the record of a batch that was not chosen.
func (h *Home) discardBatch() {
	b := h.batches
	ks := h.batchKeyState()
	before := b.found.written()
	before.Seq--
	redo := h.decide(ks, h.seq+1, true, record.Version{}, before)
	h.pin(BatchKey, true)
	h.closeRecord(ks)
	h.doAgain(ks, redo)
	h.advance(ks)
}

// sweepBatches drops batches whose proxy has given up on them.
func (h *Home) sweepBatches() {
	if h.batches == nil {
		return
	}
	before := len(h.batches.queue)
	for _, one := range slices.Clone(h.batches.queue) {
		if !h.expired(one.request) {
			h.waits(one.request)
			continue
		}
		h.dequeue(one)
		one.dropAway()
		h.timeOut(one.request)
	}
	if len(h.batches.queue) < before && h.phase == leading {
		h.drive() // others waited behind them
	}
}

// loseBatches gives up what is known of batches, and returns the requests that had not been written to the record.
func (h *Home) loseBatches() (waiting []*Request) {
	if h.batches == nil {
		return nil
	}
	for _, one := range h.batches.queue {
		one.dropAway()
		waiting = append(waiting, one.request)
	}
	h.batches = nil
	return waiting
}
