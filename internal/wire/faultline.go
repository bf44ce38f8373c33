//go:build faults

package wire

import (
	"encoding/binary"
	"io"
	"math/rand/v2"
	"runtime"
	"time"
)

// faultLine decides what becomes of the frames that are sent on one connection. It
// belongs to the goroutine that does the handshake, and then to the writer.
type faultLine struct {
	address string // that was dialed, empty for an accepted connection
	peer    faultPeer
	name    string // of the connection

	// plan is the plan when the last frame was sent, rule what it says of the peer.
	plan   *faultPlan
	rule   *activeRule
	random *rand.Rand

	queue faultQueue
	// counted is how many bytes of the queue the outbox counts as waiting.
	counted int
}

// lag is how much longer than others a frame is held at most that they may overtake.
const lag = 10 * time.Millisecond

// dials notes the address that was dialed.
func (l *faultLine) dials(address string) {
	l.address, l.peer = address, peerAt(address)
}

// met notes who the peer is.
func (l *faultLine) met(hello Hello) {
	l.peer = faultPeer{hello.Role, hello.Name}
	l.name = noteConnection(l.peer, l.address)
	l.plan = nil
}

// handshake returns the writer for the handshake's frames.
func (l *faultLine) handshake(w io.Writer) io.Writer { return &cuttable{l, w} }

// cuttable writes to a connection unless it is cut.
type cuttable struct {
	line *faultLine
	conn io.Writer
}

// Write is given one frame.
func (c *cuttable) Write(frame []byte) (int, error) {
	rule := c.line.current()
	if rule != nil && rule.Cut {
		rule.dropped.Add(1)
		return len(frame), nil
	}
	if rule != nil {
		rule.passed.Add(1)
	}
	return c.conn.Write(frame)
}

// met tells the connection's line who the peer is, as soon as that is verified.
func (h *handshake) met(hello Hello) {
	if c, ok := h.conn.(*cuttable); ok {
		c.line.met(hello)
	}
}

// current returns the rule for the peer at this moment, nil for none.
func (l *faultLine) current() *activeRule {
	if plan := currentPlan.Load(); plan != l.plan {
		l.plan, l.rule = plan, plan.ruleFor(l.peer)
		l.random = randomFor(plan.seed, l.name)
	}
	return l.rule
}

// run is outbox.run with faults. Frames that are held are counted as waiting, so that
// the outbox is full when they are too many, and are written before an outbox that is
// finishing ends.
func (l *faultLine) run(o *outbox, w io.Writer) error {
	l.queue.last = clock()
	defer l.queue.drop()
	for {
		l.await(o)
		runtime.Gosched()
		pieces, urgent, ended := l.take(o)
		if ended {
			return nil
		}
		now := clock()
		l.decide(urgent, now)
		for _, frames := range pieces {
			l.decide(frames, now)
		}
		piece, err := o.nextPiece()
		if err != nil {
			return err
		}
		l.decide(piece, now)
		if due := l.queue.due(now); len(due) > 0 {
			if err := o.writeParts(w, due); err != nil {
				return err
			}
		}
		l.give(o, pieces)
	}
}

// await waits until frames are added, a held one is due, or there is nothing more to
// wait for.
func (l *faultLine) await(o *outbox) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(l.queue.held) > 0 {
		wake := time.AfterFunc(l.queue.held[0].due-clock(), func() {
			o.mu.Lock()
			defer o.mu.Unlock()
			o.changed.Signal()
		})
		defer wake.Stop()
	}
	for !o.waits() && !l.ended(o) && !l.queue.ready(clock()) {
		o.changed.Wait()
	}
}

// ended reports whether nothing more is to be written. o is locked.
func (l *faultLine) ended(o *outbox) bool {
	return o.mode == outboxClosed || o.mode == outboxFinishing && !o.waits() && len(l.queue.held) == 0
}

// take takes everything that waits; what is held still counts.
func (l *faultLine) take(o *outbox) (pieces [][]byte, urgent []byte, ended bool) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if l.ended(o) {
		return nil, nil, true
	}
	urgent, o.urgent = o.urgent, nil
	return o.takeAll(), urgent, false
}

// give gives pieces back whose frames were written, dropped, or copied to the queue, which
// counts as waiting.
func (l *faultLine) give(o *outbox, pieces [][]byte) {
	size := l.counted - l.queue.bytes
	for _, frames := range pieces {
		size += len(frames)
	}
	if len(pieces) > 0 {
		o.give(pieces, 0)
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	o.size -= size
	o.less.Broadcast()
	l.counted = l.queue.bytes
}

// decide puts frames into the queue, or drops them.
func (l *faultLine) decide(frames []byte, now time.Duration) {
	for len(frames) > 0 {
		size := headerSize + int(binary.LittleEndian.Uint32(frames))
		l.decideOne(frames[:size], now)
		frames = frames[size:]
	}
}

func (l *faultLine) decideOne(frame []byte, now time.Duration) {
	r := l.current()
	if r == nil {
		l.queue.release(now)
		l.queue.inOrder(frame, now, nil)
		return
	}
	if r.Cut || l.chance(r.Drop) {
		r.dropped.Add(1)
		return
	}
	r.passed.Add(1)
	due := now + r.Delay + l.upTo(r.Jitter)
	if due > now {
		r.delayed.Add(1)
	}
	again := repeatable[frame[headerSize]]
	if again && l.chance(r.Reorder) {
		r.reordered.Add(1)
		l.queue.anywhere(frame, due+l.upTo(lag), r)
	} else {
		l.queue.inOrder(frame, due, r)
	}
	if again && l.chance(r.Duplicate) {
		r.duplicated.Add(1)
		l.queue.anywhere(frame, due+l.upTo(lag), r)
	}
}

func (l *faultLine) chance(probability float64) bool {
	return probability > 0 && l.random.Float64() < probability
}

// upTo returns a random time of at most limit.
func (l *faultLine) upTo(limit time.Duration) time.Duration {
	if limit == 0 {
		return 0
	}
	return time.Duration(l.random.Int64N(int64(limit) + 1))
}
