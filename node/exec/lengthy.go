package exec

import (
	"bytes"
	"sync"
	"time"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/node/datatype"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/node/replica"
)

// A read that goes through many elements (datatype.Lengthy) is not executed while the slot is locked and its connection waits: an object never changes for whoever has it, so a goroutine
// of its own does, and the reply goes in pieces, between which others pass.

// mostLengthy is how many lengthy reads are executed at a time, of all connections. They take the processors that commands need, too.
const mostLengthy = 2

// lengthyReads are what all connections have in common. The zero value is ready.
type lengthyReads struct {
	mu     sync.Mutex
	closed bool
	wait   sync.WaitGroup
	turns  chan struct{} // holds one for each that is executed; made by New
}

// start has something done by a goroutine, unless the executor is closed.
func (l *lengthyReads) start(do func()) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.closed {
		return false
	}
	l.wait.Go(do)
	return true
}

func (l *lengthyReads) isClosed() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.closed
}

// Close waits for what is executed by goroutines of its own. The connections have ended.
func (e *Executor) Close() {
	e.lengthy.mu.Lock()
	e.lengthy.closed = true
	e.lengthy.mu.Unlock()
	e.lengthy.wait.Wait()
}

// lengthyQueue are the lengthy reads of a connection. They are executed one after the other, each when the reply to the one before has been sent: so there is one such reply in memory.
type lengthyQueue struct {
	mu      sync.Mutex
	waiting []*lengthyRead
	serving bool // a goroutine does, until none waits
	held    int  // bytes that the replies will have, about: of those that wait, and the one that is sent
}

// lengthyRead is one of them.
type lengthyRead struct {
	conn    *replica.Conn
	req     command.Request // a copy
	state   record.State    // an object, as it was when the read came
	version record.Version
	id      uint64
	slot    uint16
	came    time.Time
	now     int64 // the wall clock, in milliseconds
}

// readLengthy has a read executed on a state by itself. It reports false if too much waits for the connection.
func (e *Executor) readLengthy(c *replica.Conn, s *Session, op *protocol.Op, rec *record.Record) bool {
	r := &lengthyRead{conn: c, state: rec.State, version: rec.Version, id: op.ID, slot: op.Slot, came: time.Now(), now: c.Round().Now()}
	r.req = op.Req
	r.req.Args = make([][]byte, len(op.Req.Args))
	for i, arg := range op.Req.Args {
		r.req.Args[i] = bytes.Clone(arg)
	}
	q, size := &s.lengthy, rec.State.Size()
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.held > 0 && q.held+size > replica.MaxReplies {
		return false
	}
	if !q.serving && !e.lengthy.start(func() { e.serveLengthy(q) }) {
		return false
	}
	q.serving = true
	q.held += size
	q.waiting = append(q.waiting, r)
	return true
}

// serveLengthy executes the lengthy reads of a connection until none waits.
func (e *Executor) serveLengthy(q *lengthyQueue) {
	for r := q.next(nil); r != nil; r = q.next(r) {
		if !e.lengthy.isClosed() && !e.overdue(time.Since(r.came)) {
			e.executeLengthy(r)
		}
	}
}

// next takes the read that is next after one, or after none.
func (q *lengthyQueue) next(after *lengthyRead) *lengthyRead {
	q.mu.Lock()
	defer q.mu.Unlock()
	if after != nil {
		q.held -= after.state.Size()
	}
	if len(q.waiting) == 0 {
		q.serving, q.waiting = false, nil
		return nil
	}
	r := q.waiting[0]
	q.waiting = q.waiting[1:]
	return r
}

// executeLengthy executes a lengthy read, and waits until the reply is sent.
func (e *Executor) executeLengthy(r *lengthyRead) {
	e.lengthy.turns <- struct{}{}
	reply, err := e.replyTo(r)
	<-e.lengthy.turns
	result := protocol.Result{ID: r.id, Status: protocol.StatusValue, Version: r.version}
	round := e.host.Begin() // what it says leaves as soon as it is durable
	switch {
	case err != nil:
		e.unreadable(r.slot, err)
		result = protocol.Result{ID: r.id, Status: protocol.StatusNotDone, Reason: register.StorageFailed}
		round.Result(r.conn, &result)
	case len(reply) <= protocol.ReplyPieceSize:
		result.Reply = reply
		round.Result(r.conn, &result)
	default:
		sent := &longReply{result: result, reply: reply, ended: make(chan struct{})}
		round.Stream(r.conn, sent)
		defer func() { <-sent.ended }()
	}
	round.Flush()
}

// replyTo executes the read. An error is one of the store, which cannot read all of the state that it needs.
func (e *Executor) replyTo(r *lengthyRead) (reply []byte, err error) {
	defer record.Catch(&err)
	e.host.LendApart(&r.req)
	reply, _ = datatype.Execute(nil, r.state, &r.req, r.now)
	return reply, nil
}

// unreadable notes that a record of a slot cannot be read.
func (e *Executor) unreadable(number uint16, err error) {
	st := e.host.Lock(number, nil)
	defer st.Unlock()
	if sl, known := st.Slot(number); known == nil {
		st.Fail(number, sl, err)
	}
}

// longReply sends a reply in pieces, and the result behind them.
type longReply struct {
	result protocol.Result
	reply  []byte
	at     int // where the next piece begins
	ended  chan struct{}
}

var _ wire.Source = (*longReply)(nil)

// Next implements wire.Source.
func (r *longReply) Next(dst []byte) (frames []byte, more bool) {
	end := min(r.at+protocol.ReplyPieceSize, len(r.reply))
	start := len(dst)
	dst = protocol.AppendReplyPiece(wire.BeginFrame(dst, protocol.FrameReplyPiece),
		&protocol.ReplyPiece{ID: r.result.ID, Size: len(r.reply), Offset: r.at, Bytes: r.reply[r.at:end]})
	dst = wire.EndFrame(dst, start)
	if r.at = end; r.at < len(r.reply) {
		return dst, true
	}
	start = len(dst)
	dst = protocol.AppendResult(wire.BeginFrame(dst, protocol.FrameBatchReply), &r.result)
	return wire.EndFrame(dst, start), false
}

// Queued implements wire.Source: nobody's frames are held up by it.
func (*longReply) Queued() int { return 0 }

// End implements wire.Source.
func (r *longReply) End() { close(r.ended) }
