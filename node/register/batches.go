package register

import (
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
	busy   bool           // they are being gone on with: none of them is to be evaluated elsewhere meanwhile
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

// enqueueBatch gives a batch its place in the queues of all its keys at once, and goes on with them.
func (h *Home) enqueueBatch(r *Request) {
	b := h.waitingBatch(r)
	for _, ks := range b.keys {
		ks.queue = append(ks.queue, &b.marker)
	}
	if h.failed != nil { // looking a key up ended the home
		h.dequeue(b)
		h.answer(r, Answer{Outcome: r.undecided(), Reason: StorageFailed})
		return
	}
	h.lift(b)
}

// waitingBatch makes a request a batch that waits, and has no place in the queue of any key yet.
func (h *Home) waitingBatch(r *Request) *batch {
	b, own := h.newBatch(r, r.keys), h.ownBatches()
	own.queue = append(own.queue, b)
	own.lookAtOne(b)
	return b
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
	b.busy = true
	defer func(was stage) {
		b.busy = false
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
