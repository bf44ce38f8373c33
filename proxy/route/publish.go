package route

import (
	"math/rand/v2"

	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
)

// Messages are operations on no key. All that this proxy publishes goes through one node as long as that is up, so that every subscriber hears what one
// client has published in its order. A node that may have got a message keeps it: nobody else is asked, for it would be heard twice.

// sendToBroker adds a message to the frame for the node that publishes.
func (c *Coordinator) sendToBroker(view *ringView, b *Batch, i int32) {
	s := &b.state
	st, req := &s.ops[i], &b.Ops[i].Req
	l := c.chooseBroker(view)
	if l == nil {
		s.fail(st, errNoBroker)
		return
	}
	f := &s.messages
	if f.link != nil && f.link != l { // it has gone silent a moment ago
		l = f.link
	}
	if len(f.buf) == 0 || len(f.buf)-f.start >= fullFrame {
		if len(f.buf) > 0 {
			f.buf = wire.EndFrame(f.buf, f.start)
		}
		f.link, f.start = l, len(f.buf)
		f.buf = wire.BeginFrame(f.buf, protocol.FramePublish)
	}
	st.phase, st.waiting, st.targets[0], st.err = opExecuting, 1, l.id, ErrUnknownOutcome
	s.ready--
	f.ops = append(f.ops, i)
	f.buf = protocol.AppendPublish(buffer.Reserve(f.buf, b.Ops[i].size()), s.attempt<<opBits|uint64(i),
		&protocol.Message{Shard: req.Op == command.OpSPublish, Channel: req.Args[1], Payload: req.Args[2]})
}

// chooseBroker returns the node that publishes: the same as before, as long as it is up, otherwise any other that is; nil if none can be reached.
func (c *Coordinator) chooseBroker(view *ringView) *nodeLink {
	before := c.broker.Load()
	if before != nil && before.up.Load() && view.node(before.id) == before {
		return before
	}
	l := c.anyNode(view)
	if l != nil && !c.broker.CompareAndSwap(before, l) { // others have chosen at the same time
		if other := c.broker.Load(); other.up.Load() && view.node(other.id) == other {
			return other
		}
	}
	return l
}

// anyNode returns a link to a node that is up, or else one that has been heard of, each with the same probability.
func (c *Coordinator) anyNode(view *ringView) (silent *nodeLink) {
	n := len(view.nodes)
	var first int
	if c.cfg.Random != nil {
		first = c.cfg.Random.IntN(n)
	} else {
		first = rand.IntN(n)
	}
	for i := range n {
		l := view.nodes[(first+i)%n]
		if l.up.Load() {
			return l
		}
		if !l.down.Load() {
			silent = l
		}
	}
	return silent
}
