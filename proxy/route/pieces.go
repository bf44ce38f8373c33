package route

import (
	"time"

	"github.com/quolldb/quoll/internal/protocol"
)

// A long reply comes in pieces ahead of its result (protocol.ReplyPiece), so that other replies pass between them.

// pieceGrace is for how long after a piece the next one is waited for, though the time of the operation is up.
const pieceGrace = time.Second / 2

// piece takes a piece of a reply. It runs in the link's reader.
func (c *Coordinator) piece(from uint16, body []byte) error {
	p, err := protocol.DecodeReplyPiece(body)
	if err != nil {
		return err
	}
	b := c.batches.lock(p.ID)
	if b == nil {
		return nil
	}
	defer b.state.unlock()
	if st, _ := b.state.asked(p.ID, from); st != nil && st.phase == opReading {
		b.state.piece(st, &p)
	}
	return nil
}

// piece appends a piece to what has come of a reply. What does not follow on it is dropped with it: then the result comes without a reply.
func (s *batchState) piece(st *opState, p *protocol.ReplyPiece) {
	if p.Offset == 0 {
		st.ahead = s.replies.lend(p.Size)
	}
	if p.Offset != len(st.ahead) || p.Size > cap(st.ahead) {
		st.ahead = nil
		return
	}
	st.ahead = append(st.ahead, p.Bytes...)
	st.size, st.heard = p.Size, time.Since(s.begun)
}

// replyOf returns the reply that a result has, or that came ahead of it, nil if not all of it has come.
func (s *batchState) replyOf(st *opState, r *protocol.Result) []byte {
	switch {
	case len(r.Reply) > 0:
		return s.replies.add(r.Reply)
	case st.ahead != nil && len(st.ahead) == st.size:
		return st.ahead
	}
	return nil
}

// arrives reports whether pieces of the reply have been coming until a moment ago.
func (st *opState) arrives(age time.Duration) bool {
	return st.phase == opReading && st.ahead != nil && age-st.heard < pieceGrace
}
