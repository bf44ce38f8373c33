package proxy

import (
	"sync"
	"time"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/proxy/quorum"
)

// batchState is what the coordinator keeps with a batch while it is executed. The
// executing goroutine and the links' readers share it under mu.
type batchState struct {
	mu      sync.Mutex
	id      uint64 // table index and generation; 0 while not executing
	ops     []opState
	round   uint32 // of sending
	pending int    // operations without an outcome
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
	frames             []nodeFrame   // by member ID
	chains             chainTable
}

// partState is a part of the batch: ops[first:end], of which so many have no outcome.
type partState struct{ first, end, pending int }

// nodeFrame holds the frames for one node; the last one is under construction.
type nodeFrame struct {
	buf   []byte
	start int     // of the last frame
	ops   []int32 // whose messages are in it
}

// fullFrame is the length at which a frame is closed and another one begun.
const fullFrame = 1 << 20

// phase says where an operation is.
type opPhase uint8

const (
	opReady     opPhase = iota // to be sent
	opReading                  // votes are out
	opExecuting                // a home has it
	opDone
)

// maxTargets bounds the replicas that one read asks: a majority of seven.
const maxTargets = 4

// opState is where an operation is on its way.
type opState struct {
	slot    uint16
	phase   opPhase
	viaHome bool   // through the home, though it is a read
	except  uint16 // the member that it is not to be sent on to, 0 for none
	tries   uint8
	sent    time.Duration // since the batch began, if it is slow
	delays  uint8         // how often it was refused because too much waits
	waiting uint8         // bit i: targets[i] has not answered
	targets [maxTargets]uint16
	hint    uint16 // the member to ask, 0 for the coordinator's choice,
	hinter  uint16 // and who said so
	unable  uint16 // the member that cannot execute it, 0 for none
	full    uint8  // bit i: replica i of the slot has no room for it
	index   int32  // in the batch
	part    int32  // that it belongs to
	before  int32  // the operation on the same key before this one, -1 for none
	chain   int32  // that it is part of, -1 for none
	votes   quorum.Votes
	reply   []byte      // that came, nil while there is none
	err     *ReplyError // why it was not done, if it ends now
}

// IDs of operations on the wire: generation | table index | operation. A batch may
// have a command of the most arguments behind others. Generations wrap around; by then the
// connections on which a reply of the old one might come are gone.
const (
	opBits         = 21
	tableBits      = 16
	generationBits = 64 - tableBits - opBits
	maxOpsRun      = 1 << opBits
)

// batchTable finds the batch that a reply belongs to.
type batchTable struct {
	mu      sync.RWMutex
	slots   []*Batch
	free    []int
	counter uint64 // generation of the last batch
}

// add gives a batch its identity.
func (t *batchTable) add(b *Batch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	var i int
	if n := len(t.free); n > 0 {
		i, t.free = t.free[n-1], t.free[:n-1]
		t.slots[i] = b
	} else {
		i = len(t.slots)
		t.slots = append(t.slots, b)
	}
	if t.counter++; t.counter == 1<<generationBits {
		t.counter = 1
	}
	b.state.id = t.counter<<tableBits | uint64(i)
}

// remove ends it: replies that come later find nothing.
func (t *batchTable) remove(b *Batch) {
	t.mu.Lock()
	defer t.mu.Unlock()
	i := int(b.state.id & (1<<tableBits - 1))
	t.slots[i], t.free = nil, append(t.free, i)
	b.state.id = 0
}

// lock returns the batch of an operation's ID, locked, nil if it has ended.
func (t *batchTable) lock(op uint64) *Batch {
	id := op >> opBits
	t.mu.RLock()
	defer t.mu.RUnlock()
	i := int(id & (1<<tableBits - 1))
	if i >= len(t.slots) || t.slots[i] == nil || t.slots[i].state.id != id {
		return nil
	}
	b := t.slots[i]
	b.state.mu.Lock()
	return b
}

// all returns the batches that are executed at the moment.
func (t *batchTable) all() []*Batch {
	t.mu.RLock()
	defer t.mu.RUnlock()
	var all []*Batch
	for _, b := range t.slots {
		if b != nil {
			all = append(all, b)
		}
	}
	return all
}

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
	s.replies.reset(maxKeptBuffer)
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
		s.ops[i] = opState{slot: b.Ops[i].slotOf(), index: int32(i), part: int32(len(s.parts)),
			before: -1, chain: -1, viaHome: b.Ops[i].Write}
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
			op.Outcome, op.Reply = Done, st.reply
			continue
		}
		op.Outcome, op.Reply = st.err.Outcome, s.replies.fail(st.err)
	}
}

// trim gives up what a large batch needed. Replies whose parts have been answered are
// nobody's any more; others are kept for the next batch of the same client, which is like this one.
func (s *batchState) trim() {
	kept := maxKeptAlone
	if s.eager {
		kept = maxKeptBuffer
		s.replies.reset(kept)
	}
	for i := range s.frames {
		if f := &s.frames[i]; cap(f.buf) > kept {
			buffer.Put(f.buf)
			f.buf = nil
		}
	}
}

const (
	// maxKeptBuffer bounds the buffers that a batch keeps for its next use, which is soon if many
	// clients share it: some frames of full length.
	maxKeptBuffer = 4 << 20
	// maxKeptAlone is the same for one of the many batches of clients by themselves.
	maxKeptAlone = 64 << 10
)

// done ends an operation with its reply.
func (s *batchState) done(st *opState, reply []byte) {
	st.reply = s.replies.add(reply)
	s.close(st)
}

// fail ends an operation with an error.
func (s *batchState) fail(st *opState, err *ReplyError) {
	st.reply, st.err = nil, err
	s.close(st)
}

func (s *batchState) close(st *opState) {
	if st.phase == opReady {
		s.ready--
	}
	s.left(st, st.err == nil || st.mayWrite())
	st.phase, st.waiting = opDone, 0
	s.pending--
	if part := &s.parts[st.part]; part.pending == 1 {
		part.pending, s.finished = 0, append(s.finished, st.part)
	} else {
		part.pending--
	}
	s.blocked = 0 // it may have been waited for
}

// again lets an operation be sent once more.
func (s *batchState) again(st *opState) {
	if st.phase == opReady || st.phase == opDone {
		return
	}
	s.left(st, false)
	st.phase, st.waiting, st.reply = opReady, 0, nil
	if st.tries < 255 {
		st.tries++
	}
	s.ready++
}

// later is again for who was refused because too much waits where it was sent: that says nothing about who leads
// the slot.
func (s *batchState) later(st *opState) {
	s.again(st)
	st.err = ErrOverloaded
	st.tries--
	if st.delays < 255 {
		st.delays++
	}
}

// manyOps is for how many operations a frame is begun in borrowed memory.
const manyOps = 32

// frame returns the frame for a member, begun if necessary.
func (s *batchState) frame(id uint16, epoch uint64) *nodeFrame {
	for int(id) >= len(s.frames) {
		s.frames = append(s.frames, nodeFrame{})
	}
	f := &s.frames[id]
	if len(f.buf) > 0 && len(f.buf)-f.start < fullFrame {
		return f
	}
	if f.buf == nil && len(s.ops) >= manyOps {
		f.buf = buffer.Get(0)
	}
	if len(f.buf) > 0 {
		f.buf = wire.EndFrame(f.buf, f.start)
	}
	f.start = len(f.buf)
	f.buf = protocol.AppendEpoch(wire.BeginFrame(f.buf, protocol.FrameBatch), epoch)
	return f
}
