package register

import (
	"slices"

	"github.com/quolldb/quoll/internal/record"
)

// The record of the batches that are under way in a slot: it is written, its keys get what it says, and it is closed (B3 to B5).

// recordHeld reports whether a quorum holds what was written last to the record.
func (h *Home) recordHeld() bool {
	held := h.holds(h.batchKeyState(), h.batches.seq)
	h.batches.begun = h.batches.begun || held
	return held
}

// recordBatches writes all batches to the record that can be evaluated now (B2, B3), and answers those that change nothing.
func (h *Home) recordBatches() bool {
	b := h.batches
	if len(b.queue) == 0 || h.clear.active() {
		return false
	}
	record := h.batchKeyState()
	if h.failed != nil || record.reading != nil || len(record.doubt) > 0 {
		return false
	}
	g := newGroup()
	did, before := false, h.seq
	all := b.all
	g.queue = b.looked(g.queue)
	for i := 0; i < len(g.queue) && !g.full(); i++ {
		if len(g.batches) > 0 && g.batches[0].request.whole != nil { // nothing comes between it and its record (B11)
			break
		}
		one := g.queue[i]
		if one.grouped || one.away != nil {
			continue
		}
		if one.request.whole != nil && len(g.batches) > 0 {
			continue
		}
		if h.own(one) {
			ks := one.keys[0]
			if h.evaluateOwn(one) {
				did = true
				h.advance(ks)
			}
			if h.phase != leading {
				return true
			}
			continue
		}
		certain := h.certain(one, g)
		if h.phase == leading && certain {
			did = true
			h.evaluateBatch(one, g)
		}
		if h.phase != leading {
			return true
		}
		if !all && len(g.batches) > 0 { // there will be a record, and others may join it
			all = true
			g.queue = append(g.queue[:i+1], b.queue...)
		}
	}
	if len(g.batches) == 0 {
		g.recycle()
		return did || h.seq != before // a head was written again
	}
	b.queue = slices.DeleteFunc(b.queue, func(one *batch) bool { return one.grouped })
	for i, w := range g.waiting {
		w.needSeq = h.seq + 1
		w.attempted(g.batches[i].changes, h.versionOf(w.needSeq))
		record.waiting = append(record.waiting, w)
	}
	h.count(BatchRecorded)
	next := batchRecord{origin: b.origin, keys: g.keys}
	h.propose(record, next.effect(h.seq+1, &g.borrow), !record.known)
	h.opened(next, g.batches)
	b.remember(g)
	return true
}

// remember keeps the group that backs the record, nil for none, instead of the one that did.
func (b *batches) remember(g *group) {
	if b.memory != nil {
		b.memory.recycle()
	}
	b.memory = g
}

// effect is what writes the record as this write of the term: the writes of its keys come next. See stateIn.
func (b *batchRecord) effect(seq uint64, room *[]byte) record.Effect {
	for i := range b.keys {
		if k := &b.keys[i]; k.seq != 0 {
			seq++
			k.seq = seq
		}
	}
	return record.Effect{Kind: record.Replaced, State: b.stateIn(room)}
}

// opened notes that a record has been proposed. Nothing else is done on its keys until they get what they are to get.
func (h *Home) opened(next batchRecord, group []*batch) {
	b := h.batches
	for _, k := range b.record.keys {
		h.pin(k.name, false)
	}
	b.stage, b.record, b.group, b.seq, b.whole = recording, next, group, h.seq, next.whole()
	for _, k := range next.keys {
		ks := h.keyNamed(k.name)
		ks.pinned, ks.barred = true, true
		h.seq = max(h.seq, k.seq)
	}
	h.pin(BatchKey, true)
}

// pin keeps what the home knows of a key, or lets it go.
func (h *Home) pin(name []byte, pinned bool) {
	if ks := h.keys.get(name); ks != nil {
		ks.pinned = pinned
	}
}

// applyBatches gives the keys what the record says, which is chosen (B4).
func (h *Home) applyBatches() bool {
	b := h.batches
	b.stage, b.held = applying, 0
	group := b.group
	b.group = nil
	for i := range b.record.keys {
		k := &b.record.keys[i]
		ks := h.keyNamed(k.name)
		if ks.barred = false; k.seq == 0 {
			ks.pinned = false
			h.resolve(ks, b.floor)
			continue
		}
		redo := h.decide(ks, k.seq, false, b.floor, k.base) // what the batch does not know of has no effect
		h.proposeAs(ks, k.seq, record.Effect{Kind: record.Replaced, State: k.state}, false)
		h.doAgain(ks, redo)
	}
	for _, one := range group {
		h.dequeue(one)
	}
	h.lift(group...)
	for _, one := range group {
		one.recycle()
	}
	h.liftDatabases()
	return true
}

// closeBatches writes that all keys have what they were to get.
func (h *Home) closeBatches() bool {
	b := h.batches
	for _, k := range b.record.keys {
		h.pin(k.name, false)
	}
	b.record = batchRecord{origin: b.origin}
	b.remember(nil)
	h.closeRecord(h.batchKeyState())
	return true
}

// closeRecord writes that no batch is open.
func (h *Home) closeRecord(ks *keyState) {
	b := h.batches
	closed := batchRecord{origin: b.origin}
	h.propose(ks, record.Effect{Kind: record.Replaced, State: closed.state()}, !ks.known)
	b.stage, b.seq = closing, h.seq
}

// batchesClosed goes on with what waits for the end of a batch.
func (h *Home) batchesClosed() bool {
	b := h.batches
	group := b.group
	b.stage, b.group, b.found = free, nil, nil
	h.pin(BatchKey, false)
	for _, one := range group {
		h.dequeue(one)
	}
	for _, one := range group {
		for _, ks := range one.keys {
			h.resolve(ks, b.floor)
		}
		h.lift(one)
	}
	for _, ks := range h.keys.snapshot() {
		if h.phase != leading {
			return true
		}
		if ks.known && ks.present {
			h.purge(ks)
		}
		h.settle(ks)
	}
	h.liftDatabases()
	h.advanceClear()
	return true
}
