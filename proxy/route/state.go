package route

import (
	"sync"
	"time"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol/answer"
)

// batchState is what the coordinator keeps with a batch while it is executed. The
// executing goroutine and the links' readers share it under mu.
type batchState struct {
	mu      sync.Mutex
	id      uint64 // table index and generation; 0 while not executing
	attempt uint64 // the same of what is sent now
	ops     []opState
	view    *ringView // that the last round was sent by
	round   uint32    // of sending
	pending int       // operations without an outcome
	parts   []partState
	eager   bool // parts that are done are answered before the others
	// finished are the parts that are done and not yet handed out; answered is the
	// memory of those that were before.
	finished, answered []int32
	ready              int // operations that wait to be sent,
	blocked            int // of which so many wait for others on the same key
	replies            replies
	wake               chan struct{}
	begun, deadline    time.Time
	last               time.Time // nothing is sent after it
	timer              *time.Timer
	lost               time.Duration // by pauses, as far as it has been allowed for
	slow               bool          // it took longer than the operation time-out
	grace              time.Duration // that what is sent then has at least
	frames             []nodeFrame   // by nodeLink.index
	messages           nodeFrame     // to publish
	chains             chainTable
}

// partState is a part of the batch: ops[first:end], of which so many have no outcome.
type partState struct{ first, end, pending int }

// unlock lets go of a batch and wakes its goroutine when there is something to do.
func (s *batchState) unlock() {
	wake := s.pending == 0 || s.ready > s.blocked || s.eager && len(s.finished) > 0
	s.mu.Unlock()
	if !wake {
		return
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// begin prepares the state for the operations of a batch. It is locked.
func (b *Batch) begin() {
	s := &b.state
	if s.wake == nil {
		s.wake = make(chan struct{}, 1)
	}
	select {
	case <-s.wake: // of an earlier execution
	default:
	}
	s.replies.reset(maxKeptShared)
	s.pending, s.ready, s.blocked = len(b.Ops), len(b.Ops), 0
	s.slow = false
	s.parts, s.finished, s.eager = s.parts[:0], s.finished[:0], b.OnPart != nil
	if cap(s.ops) < len(b.Ops) {
		s.ops = make([]opState, len(b.Ops))
	}
	s.ops = s.ops[:len(b.Ops)]
	s.chains.reset()
	for first, i := 0, 0; first < len(b.Ops); i++ {
		end := len(b.Ops)
		if i < len(b.ends) {
			end = b.ends[i]
		}
		b.beginPart(first, end)
		first = end
	}
}

func (b *Batch) beginPart(first, end int) {
	s := &b.state
	for i := first; i < end; i++ {
		slot := b.Ops[i].slotOf()
		b.Ops[i].slot = slot
		s.view.prefetch(slot)
		s.ops[i] = opState{slot: slot, index: int32(i), part: int32(len(s.parts)),
			before: -1, after: -1, chain: -1, write: b.Ops[i].Write, viaHome: b.Ops[i].Write || b.Ops[i].Req.Op == command.OpBatch}
	}
	s.parts = append(s.parts, partState{first: first, end: end, pending: end - first})
	if end-first > 1 {
		s.chains.link(b.Ops[:end], s.ops[:end], first)
	}
}

// answer hands the replies to the operations of the parts that are done, and the parts
// to whoever waits for them. It returns how many operations are not done, and whether
// some of them can be sent.
func (b *Batch) answer() (pending int, sendable bool) {
	s := &b.state
	s.mu.Lock()
	done := s.finished
	s.finished, s.answered = s.answered[:0], done
	for _, part := range done {
		b.deliver(&s.parts[part])
	}
	pending, sendable = s.pending, s.ready > s.blocked
	s.mu.Unlock()
	if b.OnPart != nil {
		for _, part := range done {
			b.OnPart(int(part))
		}
	}
	return pending, sendable
}

func (b *Batch) deliver(part *partState) {
	s := &b.state
	for i := part.first; i < part.end; i++ {
		op, st := &b.Ops[i], &s.ops[i]
		if st.reply != nil {
			op.Outcome, op.Reply, op.Version = answer.Done, st.reply, st.version
			continue
		}
		err := st.err
		if op.Req.Op.Publishes() {
			err = unpublished(err)
		}
		op.Outcome, op.Reply = err.Outcome, s.replies.fail(err)
	}
}

// trim gives up what a large batch needed. Replies whose parts have been answered are
// nobody's any more; others are kept for the next batch of the same client, which is like this one.
func (s *batchState) trim() {
	kept := maxKeptSingle
	if s.eager {
		kept = maxKeptShared
		s.replies.reset(kept)
	}
	for i := range s.frames {
		s.frames[i].trim(kept)
	}
	s.messages.trim(kept)
}

const (
	// maxKeptShared bounds the buffers that a batch keeps for its next use, which is soon if many
	// clients share it: some frames of full length.
	maxKeptShared = 4 << 20
	// maxKeptSingle is the same for a batch of one client, of which there are many.
	maxKeptSingle = 64 << 10
)
