package register

import (
	"bytes"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/record"
)

// handleReply processes a replica's reply. Replies of another term or epoch are
// ignored.
func (h *Home) handleReply(m *Message) {
	h.observe(m)
	if m.Result == StaleEpoch || h.phase == idle || m.Ballot != h.ballot || m.Epoch != h.config.epoch {
		return
	}
	i := h.config.index(m.From)
	if i < 0 {
		return
	}
	if m.Result == StaleBallot {
		if m.Kind == Prepare && m.Promised == h.ballot {
			return // the replica refused a second copy: this term has its promise (R3)
		}
		h.refused.add(i)
		if !h.config.quorum((h.config.old | h.config.next) &^ h.refused) {
			h.stepDown()
			return
		}
		h.drain()
		return
	}
	if m.Kind == Prepare {
		h.promises.add(i)
		h.batchOpen = h.batchOpen || m.Present && h.phase == acquiring
		if h.phase == acquiring && h.config.quorum(h.promises) {
			h.lead()
		}
		return
	}
	if m.Kind == Purge {
		return
	}
	newer := h.note(i, m)
	switch m.Kind {
	case SyncRead:
		h.syncReadReply(i, m)
	case Accept:
		h.acceptReply(i, m)
	case Clear:
		if h.clear != &noClear {
			h.clear.acked[i] = max(h.clear.acked[i], m.Held.Seq)
			h.settleClear()
		}
	}
	switch ks := h.keys.get(m.Key); {
	case m.Kind == Clear: // it counts for all keys
		h.batches.lookAtAll()
		h.settleAll()
	case m.Kind != Confirm && ks != nil && h.phase == leading:
		h.settle(ks)
	}
	if newer && h.reads > 0 {
		h.roundAnswered()
	}
	h.drain()
}

// note keeps the highest round that a member answered, as long as some read may
// wait for it: one that waits already, or one whose key is being read.
func (h *Home) note(i int, m *Message) bool {
	if h.reads == 0 && m.Kind != SyncRead {
		return false
	}
	if h.answered == nil {
		h.answered = make([]uint64, len(h.config.members))
	}
	if m.Round <= h.answered[i] {
		return false
	}
	h.answered[i] = m.Round
	return true
}

func (h *Home) settleAll() {
	for _, ks := range h.keys.snapshot() {
		if h.phase == leading {
			h.settle(ks)
		}
	}
}

// drain finishes handing back as soon as nothing is in flight, and gives up a term that some
// member has refused: that one would miss all writes of it. A home that will not hold the slot much longer waits for nobody to ask for something.
func (h *Home) drain() {
	if h.phase != leading || h.handing == 0 && h.refused == 0 && !h.config.Leaves(h.self) || !h.drained() {
		return
	}
	if h.handing == 0 && h.config.Leaves(h.self) {
		h.handedTo = h.next(0)
	}
	switch {
	case h.handing != 0, h.config.Leaves(h.self) && h.handedTo != 0:
		h.finishHandBack()
		return
	case h.refused == 0:
		return
	}
	h.stepDown()
	h.notBefore = 0 // nobody has to wait for a rival, for there is none
}

func (h *Home) lead() {
	h.phase = leading
	h.count(TermAcquired)
	if h.batchOpen {
		h.recoverBatch()
	}
	h.drive()
}

func (h *Home) acceptReply(i int, m *Message) {
	ks := h.keys.get(m.Key)
	switch m.Result {
	case OK:
		if ks == nil {
			return
		}
		ks.held[i] = max(ks.held[i], m.Held.Seq)
		h.batches.lookAt(ks)
		if m.Held == ks.head.Version && ks.present {
			ks.exact.add(i)
			h.purge(ks)
		}
	case NeedFull: // the head contains every earlier proposal (R7)
		h.count(NeededFull)
		if ks == nil {
			ks = h.begin(m.Key, newKeyState())
		}
		h.sendHead(ks, i, false)
	case BelowFloor: // (R14) same state, new version
		if ks != nil && ks.known && ks.present && !ks.barred && ks.head.Version.Ballot == h.ballot && !m.Floor.Less(ks.head.Version) {
			if state, ok := h.headState(ks); ok {
				h.count(FloorHit)
				h.propose(ks, record.Effect{Kind: record.Replaced, State: state}, false)
			}
		}
	}
}

// sendHead sends the full state of the head to one member, if this term wrote it.
// If it may ask and the state is large, it sends a delta on the version of the head instead.
func (h *Home) sendHead(ks *keyState, to int, asks bool) {
	if !ks.known || ks.head.Version.Ballot != h.ballot {
		return
	}
	state, ok := h.headState(ks)
	if !ok {
		return
	}
	x := h.out.request(Accept)
	if ks.present {
		x.Key, x.Version, x.State = ks.key, ks.head.Version, state
		if asks && h.large(state.Size()) {
			x.IsDelta, x.Base, x.State = true, x.Version, record.State{}
		}
	} else {
		x.Kind, x.Version = Clear, h.clear.version
	}
	h.send(x, h.config.members[to:to+1])
}

// shown takes the state that a reply does not show from the own replica. It reports false if that does not hold it any more: then the reply is as if
// it had been lost.
func (h *Home) shown(m *Message) bool {
	rec, present, err := h.local.Read(m.Key)
	if err != nil {
		h.fail(err)
		return false
	}
	m.Found = rec.State
	return present && rec.Version == m.Held
}

// syncReadReply collects the answers of a quorum and adopts the highest version
// as the head (R4).
func (h *Home) syncReadReply(i int, m *Message) {
	ks := h.keys.get(m.Key)
	if ks == nil || ks.reading == nil || m.Round < ks.reading.round {
		return
	}
	if m.Same && !h.shown(m) {
		return
	}
	sr := ks.reading
	sr.from.add(i)
	sr.floor = record.Max(sr.floor, m.Floor)
	switch {
	case !sr.found || sr.best.Version.Less(m.Held):
		sr.best = record.Record{Version: m.Held, State: cloneState(m.Found)}
		sr.found, sr.at, sr.real = true, 0, m.Present
		sr.agrees(i, m)
	case sr.best.Version == m.Held:
		sr.agrees(i, m)
		sr.real = sr.real || m.Present
	}
	if !h.config.quorum(sr.from) {
		return
	}
	ks.known, ks.present, ks.reading = true, sr.real, nil
	ks.head, ks.lent, ks.agreed = sr.best, false, h.config.quorum(sr.at) // the own replica need not have it
	if ks.agreed {
		h.count(SyncReadAgreed)
	} else {
		h.count(SyncReadDiffered)
	}
	if h.batches != nil {
		h.batches.floor = record.Max(h.batches.floor, sr.floor)
	}
	if bytes.Equal(ks.key, BatchKey) {
		h.batchFound(ks, sr.floor)
		h.drive() // other keys may have waited for that
		return
	}
	if !h.undecided(ks) {
		h.resolve(ks, sr.floor)
	}
	if h.phase == leading {
		h.batches.lookAt(ks)
		h.advance(ks)
		h.advanceClear()
	}
}

// agrees counts a member that reported exactly best, unless it only knows of a clear that may not have been chosen (R18).
func (sr *syncRead) agrees(i int, m *Message) {
	if !m.Unsure {
		sr.at.add(i)
	}
}

// cloneState copies the borrowed value.
func cloneState(st record.State) record.State {
	if st.Object == nil {
		st.Value = buffer.Clone(st.Value)
	}
	return st
}
