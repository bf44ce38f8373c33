package wire

import (
	"fmt"
	"net"
	"sync"
	"time"

	"github.com/quolldb/quoll/internal/buffer"
)

// peer is one connection, the same for both sides: a reader, which is the
// goroutine that calls read, and a writer, which is a goroutine of its own.
type peer struct {
	conn net.Conn
	// secured is conn if it can be encrypted, else nil.
	secured *secured
	in      *frameReader
	out     *outbox
	limit   int
	writer  sync.WaitGroup
	turn    turn
	// faults is what may befall the frames that are sent: nothing, but in builds for
	// tests.
	faults faultLine

	mu sync.Mutex
	// cause is the first reason for the end of the connection.
	cause error
}

// receiver is who gets what a peer sends. It is called by the reader only.
type receiver interface {
	// frame is given a user's frame; body is borrowed.
	frame(typ FrameType, body []byte, age time.Duration)
	// idle is called after frames, when no further one can be had without waiting.
	idle()
	// pong is given the body of the answer to a ping.
	pong(body []byte) error
	// goodbye is told that the other side is leaving, or has left.
	goodbye(typ FrameType) error
	// stuck reports whether pings are not to be answered: this process only looks alive.
	stuck() bool
	// working is told that the other side is behind with its work, and goes on with it.
	working() error
}

func newPeer(conn net.Conn, o Options) *peer {
	conn, secured := o.carry(conn)
	p := &peer{
		conn: conn, secured: secured,
		in:    newFrameReader(conn, helloLimit),
		out:   newOutbox(o.MaxPending),
		limit: o.MaxFrame,
	}
	p.out.sent, p.out.steps = o.Sent, &p.turn.steps
	return p
}

// start starts the writer.
func (p *peer) start() {
	p.writer.Go(func() {
		if err := p.faults.run(p.out, p.conn); err != nil {
			p.fail(fmt.Errorf("wire: writing to the peer: %w", err))
		}
		p.out.endStreams()
	})
}

// send copies finished frames to the outbox.
func (p *peer) send(frames []byte) error {
	if err := checkFrames(frames, p.limit); err != nil {
		return err
	}
	return p.out.add(frames)
}

// hand is send, but that many frames are not copied: their memory is the connection's then. It
// returns memory for the next frames.
func (p *peer) hand(frames []byte) ([]byte, error) {
	if len(frames) < handSize {
		return frames[:0], p.send(frames)
	}
	if err := checkFrames(frames, p.limit); err != nil {
		return frames[:0], err
	}
	n := len(frames)
	if err := p.out.hand(frames); err != nil {
		return frames[:0], err
	}
	return buffer.Get(min(n, replacement)), nil
}

// replacement is the most memory that is returned for what was handed over: as much as small
// commands need, of which the next frames may be full.
const replacement = 256 << 10

// fail ends the connection because of err, without waiting for anything.
func (p *peer) fail(err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.cause == nil {
		p.cause = err
		p.out.stop(outboxClosed)
		p.conn.Close()
	}
}

// end waits for the writer and returns why the connection ended, which is err
// unless there was a reason before.
func (p *peer) end(err error) error {
	p.fail(err)
	p.writer.Wait()
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.cause
}

// read delivers frames until the connection ends, and returns why.
func (p *peer) read(to receiver) error {
	delivered := false
	for {
		if delivered && !p.in.buffered() {
			to.idle()
			p.turn.end()
			delivered = false
		}
		f, err := p.in.next()
		if err != nil {
			return fmt.Errorf("wire: reading from the peer: %w", err)
		}
		if f.typ == framePart {
			var whole bool
			if f, whole, err = p.in.join(f); err != nil {
				return fmt.Errorf("wire: reading from the peer: %w", err)
			} else if !whole {
				continue
			}
		}
		if f.typ >= FirstFrameType {
			delivered = true
			p.turn.frame(f.age)
			to.frame(f.typ, f.body, f.age)
		} else if err := p.control(f, to); err != nil {
			return err
		}
	}
}

// control handles a frame of the transport itself.
func (p *peer) control(f frame, to receiver) error {
	switch {
	case f.typ == framePing && len(f.body) <= pingLimit:
		if to.stuck() {
			return nil
		}
		p.out.addUrgent(appendFrame(nil, framePong, f.body))
		return nil
	case f.typ == framePong:
		return to.pong(f.body)
	case f.typ == frameLeaving || f.typ == frameLeft:
		return to.goodbye(f.typ)
	case f.typ == frameMark || f.typ == frameTaken:
		return p.mark(f)
	case f.typ == frameWorking && len(f.body) == 0:
		return to.working()
	}
	return fmt.Errorf("%w: a frame of type %d with %d bytes out of place", ErrProtocol, f.typ, len(f.body))
}
