package route

import (
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/internal/wire"
)

// results takes a frame of replies from a node. It runs in the link's reader.
func (c *Coordinator) results(from uint16, body []byte) error {
	d := wire.NewDecoder(body)
	var b *Batch
	var current uint64
	var r protocol.Result
	for d.More() {
		protocol.DecodeResult(&d, &r)
		if d.Err() != nil {
			break
		}
		if id := r.ID >> opBits; b == nil || id != current {
			if b != nil {
				b.state.unlock()
			}
			current, b = id, c.batches.lock(r.ID)
		}
		if b != nil {
			c.result(b, from, &r)
		}
	}
	if b != nil {
		b.state.unlock()
	}
	return d.Err()
}

// result handles one reply. The batch is locked.
func (c *Coordinator) result(b *Batch, from uint16, r *protocol.Result) {
	s := &b.state
	st, k := s.asked(r.ID, from)
	if st == nil {
		return
	}
	st.waiting &^= 1 << k
	if r.Status == protocol.StatusNotDone && r.Reason == answer.EpochChanged {
		c.refusedEpoch(from)
	}
	switch st.phase {
	case opReading:
		c.vote(s, st, k == 0, r)
	case opExecuting:
		c.answer(s, st, from, r)
	}
}

// asked returns the operation that an answer is to, and which of its targets the node is; nil if that was not asked, or it is an answer to an earlier attempt.
func (s *batchState) asked(id uint64, from uint16) (st *opState, k int) {
	i := int(id & (maxOpsRun - 1))
	if i >= len(s.ops) {
		return nil, -1
	}
	st = &s.ops[i]
	if k = st.target(from); k < 0 || st.attempt != id>>opBits {
		return nil, -1
	}
	return st, k
}

// answer handles what a home says.
func (c *Coordinator) answer(s *batchState, st *opState, from uint16, r *protocol.Result) {
	write := st.mayWrite()
	switch r.Status {
	case protocol.StatusDone, protocol.StatusWritten:
		if !write {
			c.stats.HomeReads.Add(1)
		}
		st.err, st.version = nil, r.Version
		s.done(st, s.replies.add(r.Reply))
	case protocol.StatusUnknown:
		if write {
			s.fail(st, ErrUnknownOutcome)
			return
		}
		s.again(st)
	case protocol.StatusNotDone:
		if r.Reason == answer.Overloaded {
			s.later(st)
			return
		}
		if r.Reason == answer.EpochChanged {
			s.unheard(st)
			return
		}
		err, final := refusal(r.Reason)
		if st.err = err; final {
			s.fail(st, err)
			return
		}
		st.hint, st.hinter, st.unable = r.Hint, from, 0
		if unable(r.Reason) {
			st.unable = from
		}
		if r.Reason == answer.StorageFull || r.Reason == answer.OutOfMemory {
			st.memory = r.Reason == answer.OutOfMemory
			st.full |= memberBit(s.view.table.Members(st.slot), from)
		}
		s.again(st)
	default: // a late vote, or nonsense: a read can be sent again, a write not (R11)
		if write {
			s.fail(st, ErrUnknownOutcome)
			return
		}
		s.again(st)
	}
}

// lost reacts to a node that does not answer any more: gone is whether its
// connection ended, otherwise it has gone silent. Reads are asked of others; a write that the
// node may have stays with it until the time is up, for if it has, nobody else may do it (R11).
func (c *Coordinator) lost(id uint16, gone bool) {
	for _, b := range c.batches.all() {
		s := &b.state
		s.mu.Lock()
		for i := range s.ops {
			st := &s.ops[i]
			if st.phase == opReady || st.phase == opDone || st.target(id) < 0 {
				continue
			}
			switch {
			case !st.mayWrite() || st.phase == opReading:
				s.again(st)
			case gone:
				s.fail(st, ErrUnknownOutcome)
			}
		}
		s.unlock()
	}
}
