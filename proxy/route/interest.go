package route

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
)

// interests is to what this proxy's clients subscribe, as every node is to know. A node that comes up is told everything, then each change. It forgets
// all of it when the connection ends.
type interests struct {
	hearer atomic.Pointer[func(*protocol.Message)]

	mu      sync.Mutex
	clients [protocol.InterestKinds]map[string]uint64
	// links are those that are connected; whether a node has missed something, since too much waited for it.
	links map[*nodeLink]bool
	last  uint64
	asked map[uint64]*telling
	buf   []byte
}

// telling is a change that nodes have been told.
type telling struct {
	links map[*nodeLink]struct{} // that have not answered
	done  chan struct{}
}

func newInterests() *interests {
	in := &interests{links: map[*nodeLink]bool{}, asked: map[uint64]*telling{}}
	for kind := range in.clients {
		in.clients[kind] = map[string]uint64{}
	}
	return in
}

// set notes how many clients subscribe, tells the nodes, and returns what waits for their answers, nil if there are none to wait for.
func (in *interests) set(changed []protocol.Interest) (id uint64, t *telling) {
	in.mu.Lock()
	defer in.mu.Unlock()
	for _, i := range changed {
		if i.Clients == 0 {
			delete(in.clients[i.Kind], string(i.Name))
		} else {
			in.clients[i.Kind][string(i.Name)] = i.Clients
		}
	}
	in.last++
	t = &telling{links: map[*nodeLink]struct{}{}, done: make(chan struct{})}
	frames := interestFrames(in.buf[:0], in.last, changed)
	for l := range in.links {
		switch err := l.link.SendFrames(frames); {
		case err == nil:
			t.links[l] = struct{}{}
		case !errors.Is(err, wire.ErrDown): // who is down is told all when it is up again
			in.links[l] = true
		}
	}
	if in.buf = frames[:0]; cap(in.buf) > maxKeptSingle {
		in.buf = nil
	}
	if len(t.links) == 0 {
		return 0, nil
	}
	in.asked[in.last] = t
	return in.last, t
}

// interestFrames appends the frames that tell of a change, of which the last one asks for an answer.
func interestFrames(dst []byte, id uint64, changed []protocol.Interest) []byte {
	start := len(dst)
	dst = beginInterest(dst, 0)
	for _, i := range changed {
		if len(dst)-start >= fullFrame {
			dst = wire.EndFrame(dst, start)
			start = len(dst)
			dst = beginInterest(dst, 0)
		}
		dst = protocol.AppendInterest(dst, i)
	}
	dst = wire.EndFrame(dst, start)
	start = len(dst)
	return wire.EndFrame(beginInterest(dst, id), start)
}

func beginInterest(dst []byte, id uint64) []byte {
	return protocol.AppendInterestID(wire.BeginFrame(dst, protocol.FrameInterest), id)
}

// up tells a node that is connected now everything.
func (in *interests) up(l *nodeLink) {
	if l.id == 0 { // a seed: it is connected again as a member
		return
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	in.tell(l)
}

// tellAgain tells a node everything that has missed something.
func (in *interests) tellAgain(l *nodeLink) {
	in.mu.Lock()
	defer in.mu.Unlock()
	if in.links[l] {
		in.tell(l)
	}
}

// tell tells a node everything. What it takes is taken: it is told a name again when the number changes.
func (in *interests) tell(l *nodeLink) {
	in.links[l] = false
	var buf []byte
	for kind, clients := range in.clients {
		for name, n := range clients {
			if len(buf) == 0 {
				buf = beginInterest(buf, 0)
			}
			buf = protocol.AppendInterest(buf, protocol.Interest{Kind: protocol.InterestKind(kind), Clients: n, Name: []byte(name)})
			if len(buf) >= fullFrame {
				in.give(l, wire.EndFrame(buf, 0))
				buf = buf[:0]
			}
		}
	}
	if len(buf) > 0 {
		in.give(l, wire.EndFrame(buf, 0))
	}
}

func (in *interests) give(l *nodeLink, frame []byte) {
	if l.link.SendFrames(frame) != nil {
		in.links[l] = true // if it is down, that is forgotten at once
	}
}

// down forgets a node whose connection has ended: nobody waits for it any more.
func (in *interests) down(l *nodeLink) {
	in.mu.Lock()
	defer in.mu.Unlock()
	delete(in.links, l)
	for id, t := range in.asked {
		in.gave(id, t, l)
	}
}

// answered takes the body of a FrameInterestDone.
func (in *interests) answered(l *nodeLink, body []byte) error {
	d := wire.NewDecoder(body)
	id := d.Uvarint()
	if err := d.Done(); err != nil {
		return err
	}
	in.mu.Lock()
	defer in.mu.Unlock()
	if t := in.asked[id]; t != nil {
		in.gave(id, t, l)
	}
	return nil
}

// gave notes that a node has given its answer, or will give none.
func (in *interests) gave(id uint64, t *telling, l *nodeLink) {
	if delete(t.links, l); len(t.links) == 0 {
		delete(in.asked, id)
		close(t.done)
	}
}

func (in *interests) forget(id uint64) {
	in.mu.Lock()
	defer in.mu.Unlock()
	delete(in.asked, id)
}

// hear takes the body of a FrameMessages.
func (in *interests) hear(body []byte) error {
	d := wire.NewDecoder(body)
	hear := in.hearer.Load()
	var m protocol.Message
	for d.More() {
		protocol.DecodeMessage(&d, &m)
		if d.Err() != nil {
			break
		}
		if hear != nil {
			(*hear)(&m)
		}
	}
	return d.Err()
}

// Listen implements Cluster.
func (c *Coordinator) Listen(hear func(*protocol.Message)) { c.interests.hearer.Store(&hear) }

// Interest implements Cluster.
func (c *Coordinator) Interest(changed []protocol.Interest) (wait func()) {
	id, t := c.interests.set(changed)
	if t == nil {
		return func() {}
	}
	return func() {
		timer := time.NewTimer(c.cfg.OperationTimeout)
		defer timer.Stop()
		select {
		case <-t.done:
		case <-timer.C:
			c.interests.forget(id)
		case <-c.ctx.Done(): // so have all links
		}
	}
}

// PubSub implements Cluster. The node is the one that publishes for this proxy.
func (c *Coordinator) PubSub(ctx context.Context, q *protocol.PubSubQuestion) (a protocol.PubSubAnswer, err error) {
	view := c.ring.Load()
	if view == nil {
		return a, ErrNotReady
	}
	l := c.chooseBroker(view)
	if l == nil {
		return a, errNoNode
	}
	ctx, cancel := context.WithTimeout(ctx, c.cfg.OperationTimeout)
	defer cancel()
	payload, err := l.caller.Call(ctx, protocol.MethodPubSub, q.Append(nil))
	if err != nil {
		return a, fmt.Errorf("%w (%w)", errNoNode, err)
	}
	return protocol.DecodePubSubAnswer(payload)
}
