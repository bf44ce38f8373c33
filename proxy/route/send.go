package route

import (
	"errors"
	"time"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
)

// nodeFrame holds the frames for one node; the last one is under construction.
type nodeFrame struct {
	link  *nodeLink
	buf   []byte
	start int     // of the last frame
	ops   []int32 // whose messages are in it
}

// fullFrame is the length at which a frame is closed and another one begun.
const fullFrame = 1 << 20

// manyOps is for how many operations a frame is begun in borrowed memory.
const manyOps = 32

// frame returns the frame for a member, begun if necessary. It names the version of the ring that the member and this proxy know both, as far as this
// proxy has heard when it begins. What is added later may be of a newer one: then the member refuses it.
func (s *batchState) frame(view *ringView, id uint16) *nodeFrame {
	l := view.node(id)
	for l.index >= len(s.frames) {
		s.frames = append(s.frames, nodeFrame{})
	}
	f := &s.frames[l.index]
	if len(f.buf) > 0 && len(f.buf)-f.start < fullFrame {
		return f
	}
	if f.buf == nil && len(s.ops) >= manyOps {
		f.buf = buffer.Get(0)
	}
	if len(f.buf) > 0 {
		f.buf = wire.EndFrame(f.buf, f.start)
	}
	f.link, f.start = l, len(f.buf)
	f.buf = protocol.AppendVersion(wire.BeginFrame(f.buf, protocol.FrameBatch), min(view.table.Version(), l.version.Load()))
	return f
}

// send sends everything that is ready, one frame to each node.
func (c *Coordinator) send(view *ringView, b *Batch) {
	s := &b.state
	s.round++
	s.blocked = 0
	now := time.Duration(0)
	if s.slow {
		now = time.Since(s.begun)
	}
	if s.view != view {
		s.changed(view)
	}
	for i := range s.ops {
		st := &s.ops[i]
		if st.phase != opReady {
			continue
		}
		if !s.turn(st) {
			continue
		}
		st.sent, st.attempt = now, s.attempt
		if st.tries > 0 {
			c.stats.Retries.Add(1)
		}
		switch {
		case b.Ops[i].Req.Op.Publishes():
			c.sendToBroker(view, b, int32(i))
		case st.viaHome:
			c.sendToHome(view, b, int32(i))
		default:
			c.sendRead(view, b, int32(i))
		}
	}
	for i := range s.frames {
		s.hand(&s.frames[i])
	}
	s.hand(&s.messages)
}

// hand gives the frames to their link, if there are any.
func (s *batchState) hand(f *nodeFrame) {
	if len(f.buf) == 0 {
		return
	}
	var err error
	if f.buf, err = f.link.link.HandFrames(wire.EndFrame(f.buf, f.start)); err != nil {
		s.unsent(f.link.id, f.ops, err)
	}
	f.link, f.ops = nil, f.ops[:0]
}

// trim gives the memory back if it is more than that.
func (f *nodeFrame) trim(kept int) {
	if cap(f.buf) > kept {
		buffer.Put(f.buf)
		f.buf = nil
	}
}

// message appends the message for one replica to its frame.
func (s *batchState) message(view *ringView, b *Batch, i int32, id uint16, kind protocol.OpKind) {
	op, st := &b.Ops[i], &s.ops[i]
	f := s.frame(view, id)
	f.ops = append(f.ops, i)
	f.buf = protocol.AppendOp(buffer.Reserve(f.buf, op.size()), &protocol.Op{ID: s.attempt<<opBits | uint64(i), Kind: kind, Except: st.except, Slot: st.slot, Req: op.Req})
}

// unsent takes back what a link did not take: certainly nobody got it.
func (s *batchState) unsent(id uint16, ops []int32, err error) {
	for _, i := range ops {
		st := &s.ops[i]
		k := st.target(id)
		if k < 0 {
			continue
		}
		st.err = nil
		switch {
		case errors.Is(err, wire.ErrBacklog):
			s.later(st)
		case errors.Is(err, wire.ErrTooLarge):
			s.fail(st, errTooLarge)
		default:
			s.again(st)
		}
	}
}
