package register

import (
	"math"
	"slices"
	"sync"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
)

// Run evaluates a batch on what its keys hold, in their order, which is borrowed: a State that is nothing but the time for a key that has expired. A version is one that
// no write of the key after this moment is at or below: for a key without record the floor, for what the batch's group has written one above all. It appends its reply to dst, and returns
// what becomes of each key. An error ends the home, as one of Env.Execute does.
type Run func(dst []byte, held []record.Record, now int64) ([]byte, []record.Effect, error)

// NewBatch returns a request that reads and changes several keys of one slot at once (B1). The keys are distinct, and are copied.
func NewBatch(keys [][]byte, run Run, origin any, originID uint64, born int64) *Request {
	r := Reserve().Set(&command.Request{Args: keys}, origin, originID, born)
	r.Together(slices.Clone(r.cmd.Args), run)
	return r
}

// Command returns the command of a request. It is borrowed until the request is given to a home.
func (r *Request) Command() *command.Request { return &r.cmd }

// Together makes of a request with a command one that reads and changes several keys of one slot at once, as NewBatch does. The keys are distinct; they, and what run
// needs, may be parts of the command, which lasts until the request is answered.
func (r *Request) Together(keys [][]byte, run Run) {
	r.key, r.keys, r.run, r.blind = BatchKey, keys, run, false
}

// Alone has a batch be told the version that each of its keys has, to compare with later: of one that its group has written it would get one above all, so it waits for that.
func (r *Request) Alone() { r.alone = true }

// stage says how far a home is with the record of batches.
type stage uint8

const (
	free      stage = iota // it is closed, or nobody needs it to be
	seeking                // what is it? A promise named an open one (B6)
	deciding               // its keys are being read
	recording              // it is being written
	applying               // its keys are
	closing                // it is being closed
)

// batches is what a home knows of batches in its current term.
type batches struct {
	stage  stage
	queue  []*batch       // that wait for their keys, in the order in which they came
	all    bool           // all of them are to be looked at: see lookAt
	some   []*batch       // or these
	group  []*batch       // those of the record
	memory *group         // which backs it, and what was put together last of it, nil if it was found
	record batchRecord    // being written, or written,
	seq    uint64         // as this write of the term
	held   int            // so many of its keys a quorum holds, while they are being written
	found  *openBatch     // of a former term, to be decided on
	origin record.Version // the record that was completed when the term began, if one was
	floor  record.Version // the highest that was shown since then
	begun  bool           // a quorum holds a write of the record in this term (B12)
	needed bool           // somebody waits for that
	whole  databases      // those of which the record that is open, or was found, reads all keys (B11)
}

// openBatch is a record that a home has found.
type openBatch struct {
	version record.Version
	batchRecord
}

// written returns the version in which an open record was written first. It may have been written again as it was, by a repair: the seqs that it names follow the first one.
func (o *openBatch) written() record.Version {
	v := o.version
	for i := range o.keys {
		if seq := o.keys[i].seq; seq != 0 {
			v.Seq = min(v.Seq, seq-1)
		}
	}
	return v
}

// batch is a request for several keys. Its marker has a place in the queue of each of them.
type batch struct {
	request *Request // nil: that of a former term
	marker  Request
	keys    []*keyState
	grouped bool // it is of the group that is being put together, or has been
	changes bool // it has an effect, as it was evaluated last

	away, evaluated *Evaluation // it is being evaluated elsewhere, or was and that is not looked at yet
}

var batchPool = sync.Pool{New: func() any { return new(batch) }}

// recycle gives a batch back to the pool that is in no queue any more.
func (b *batch) recycle() {
	clear(b.keys)
	b.dropAway()
	b.request, b.keys, b.grouped, b.changes = nil, b.keys[:0], false, false
	if cap(b.keys) <= groupKeys {
		batchPool.Put(b)
	}
}

// next reports whether nothing is before a batch in the queue of one of its keys but others of its group.
func (b *batch) next(ks *keyState) bool {
	for _, r := range ks.queue {
		if r.batch == nil || !r.batch.grouped {
			return r == &b.marker
		}
	}
	return false
}

// batchKeyState returns what the home knows of the record's key.
func (h *Home) batchKeyState() *keyState { return h.keyNamed(BatchKey) }

func (h *Home) keyNamed(name []byte) *keyState {
	if ks := h.keys.get(name); ks != nil {
		return ks
	}
	return h.begin(name, newKeyState())
}

// ownBatches returns the home's own state, to be changed.
func (h *Home) ownBatches() *batches {
	if h.batches == nil {
		h.batches = new(batches)
	}
	return h.batches
}

// batching reports whether the record of batches is open, or may be: nothing is purged meanwhile (B7), and no clear begins.
func (h *Home) batching() bool { return h.batches != nil && h.batches.stage != free }

// enqueueBatch gives a batch its place in the queues of all its keys at once.
func (h *Home) enqueueBatch(r *Request) {
	b := h.newBatch(r, r.keys)
	if h.failed != nil {
		h.answer(r, Answer{Outcome: NotDone, Reason: StorageFailed})
		return
	}
	own := h.ownBatches()
	own.queue = append(own.queue, b)
	for _, ks := range b.keys {
		ks.queue = append(ks.queue, &b.marker)
	}
	own.lookAtOne(b)
	h.lift(b)
}

func (h *Home) newBatch(r *Request, names [][]byte) *batch {
	b := batchPool.Get().(*batch)
	b.request, b.marker.batch = r, b
	for _, name := range names {
		b.keys = append(b.keys, h.keyNamed(name))
	}
	return b
}

// advanceBatches goes on with batches as far as that goes now, and reports whether it has done anything.
func (h *Home) advanceBatches() bool {
	if h.batches == nil || h.phase != leading || h.failed != nil {
		return false
	}
	b := h.batches
	defer func(was stage) {
		if b.stage != was {
			b.lookAtAll()
		}
	}(b.stage)
	switch b.stage {
	case deciding:
		return h.decideBatch()
	case recording:
		return h.recordHeld() && h.applyBatches()
	case applying:
		for ; b.held < len(b.record.keys); b.held++ { // what a quorum holds it will
			if k := b.record.keys[b.held]; k.seq != 0 && !h.holds(h.keyNamed(k.name), k.seq) {
				return false
			}
		}
		return h.recordBatches() || h.closeBatches()
	case closing:
		return h.recordHeld() && h.batchesClosed() || b.found == nil && h.recordBatches()
	case free:
		return h.recordBatches() || h.phase == leading && h.beginRecord()
	}
	return false
}

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
		one := g.queue[i]
		if one.grouped || one.away != nil {
			continue
		}
		if one.request.whole != nil && len(g.batches) > 0 {
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
		if g.batches[i].changes {
			w.request.attempted(h.versionOf(w.needSeq), w.start, w.end)
		} else { // it only waits for what others write
			w.request.shares(h.versionOf(w.needSeq), w.start, w.end)
		}
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

// certain reports whether a batch is the first in the queues of all its keys, but for those of the group, and the head of each is chosen. A head of a former term that may
// not be is written again.
func (h *Home) certain(one *batch, g *group) bool {
	for _, ks := range one.keys {
		if !one.next(ks) || !ks.known || ks.reading != nil || one.request.alone && g.writes(ks) {
			return false
		}
	}
	all := true
	for _, ks := range one.keys {
		inTerm := ks.head.Version.Ballot == h.ballot
		if ks.agreed || inTerm && h.holds(ks, ks.head.Version.Seq) {
			continue
		}
		all = false
		if inTerm || h.in.Full || h.tooEarly(ks) {
			continue
		}
		if state, ok := h.headState(ks); ok {
			h.count(WroteBack)
			h.propose(ks, record.Effect{Kind: record.Replaced, State: state}, false)
		}
	}
	return all
}

// purgedBefore returns, for a key without a record, the version that no later one of it is below: its tombstone is purged at once with the own replica's, whose
// floor is raised (R13), and whoever joins or is rebuilt takes the highest floor over (R18).
func (h *Home) purgedBefore(ks *keyState) record.Version {
	if ks.present {
		return record.Version{}
	}
	return h.local.meta.Floor
}

// evaluateBatch runs a batch on the heads of its keys, or on what the group leaves there. It joins the group, unless it has been dealt with, because it changes
// nothing (R9), or cannot be, or if the term is over.
func (h *Home) evaluateBatch(one *batch, g *group) {
	r, w := one.request, waiter{request: one.request, start: len(one.request.replies)}
	now, back := h.in.Now, h.cameBack(one, g)
	if back != nil {
		now = back.now
	}
	keys, held := g.evaluate(len(one.keys))
	defer g.evaluated()
	writes, reads := false, true // what only others of the group have written is not there yet
	for i, ks := range one.keys {
		if k := g.find(ks); k != nil && k.seq != 0 {
			held[i].State, held[i].Version, reads = k.state, record.Version{Ballot: h.ballot, Seq: math.MaxUint64}, false
			continue
		}
		state, ok := h.headState(ks)
		if !ok {
			return
		}
		keys[i].base = ks.head.Version
		held[i].Version = record.Max(ks.head.Version, h.purgedBefore(ks))
		if state.Live() && state.Expired(now) { // (R12) it is deleted before anybody is told so
			keys[i].seq, writes = unnumbered, true
			held[i].State.ExpireAt = state.ExpireAt
			continue
		}
		held[i].State = g.copyShort(state)
	}
	if r.whole != nil && !h.survey(one) {
		return
	}
	effects, done := h.runBatch(one, back, reads, keys, held)
	if !done {
		return
	}
	w.end, one.changes = len(r.replies), false
	for i := range effects {
		if effects[i].Kind != record.Unchanged {
			keys[i].seq, keys[i].state, writes, one.changes = unnumbered, g.keepState(effects[i].Whole()), true, true
		}
	}
	switch {
	case !writes && reads:
		h.dequeue(one)
		h.wait(one.keys[0], w) // all heads are certain: it waits for its round
	case writes && h.in.Full:
		h.dequeue(one)
		h.noRoom(r)
	default:
		g.join(one, keys, w)
		return
	}
	h.lift(one)
	one.recycle()
}

// versionOf is a write of this term.
func (h *Home) versionOf(seq uint64) record.Version {
	return record.Version{Ballot: h.ballot, Seq: seq}
}

// dequeue takes a batch out of all queues.
func (h *Home) dequeue(one *batch) {
	b := h.batches
	if i := slices.Index(b.queue, one); i >= 0 {
		b.queue = slices.Delete(b.queue, i, i+1)
	}
	for _, ks := range one.keys {
		ks.queue = slices.DeleteFunc(ks.queue, func(r *Request) bool { return r == &one.marker })
		b.lookAt(ks)
	}
}

// lift lets the keys of batches that have come to their queues, or have left them, go on: each once, for after that it may have been forgotten.
func (h *Home) lift(batches ...*batch) {
	var lifted map[*keyState]bool
	if len(batches) > 1 { // those of one are distinct
		lifted = make(map[*keyState]bool)
	}
	for _, one := range batches {
		for _, ks := range one.keys {
			if h.phase != leading || lifted[ks] {
				continue
			}
			if lifted != nil {
				lifted[ks] = true
			}
			h.advance(ks)
		}
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
