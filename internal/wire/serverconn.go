package wire

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"os"
	"sync/atomic"
	"time"
)

// ServerConn is one peer's connection to a Server.
type ServerConn struct {
	*peer
	server *Server
	// Data belongs to the handler, which may set it in Open.
	Data any

	draining atomic.Bool
	// open: after the handshake; left: the peer sends no more. Under server.mu.
	open, left bool
	// heard and quiet belong to the sweeper: when the last byte came, as of the
	// last round, and for how many rounds that has been so.
	heard int64
	quiet int
	// seen, recent and steps belong to reportProgress: the turn, and when the last byte had come, as of the last round.
	seen   uint32
	recent int64
	steps  uint32 // the same for what the handler has told of
}

// Goes tells that the handler of this connection has done a part of what a frame asks for, if that is much. Otherwise it is
// taken for hung when it takes very long. Any number of calls cost little.
func (c *ServerConn) Goes() { c.turn.steps.Add(1) }

// SendFrames queues finished frames, which are copied; any goroutine may call it
// and none waits for the peer. A peer that does not read until ErrBacklog is
// disconnected. After an error nothing was queued.
func (c *ServerConn) SendFrames(frames []byte) error {
	err := c.send(frames)
	if errors.Is(err, ErrBacklog) {
		c.fail(err)
	}
	return err
}

// HandFrames is SendFrames, but the frames' memory is given away if they are many bytes, which
// saves a copy. The memory that is returned, empty, is the caller's instead.
func (c *ServerConn) HandFrames(frames []byte) ([]byte, error) {
	instead, err := c.hand(frames)
	if errors.Is(err, ErrBacklog) {
		c.fail(err)
	}
	return instead, err
}

// AwaitRoom is for handlers that are not to make more replies before the peer has taken some: it waits until no more than limit bytes
// are Queued, or the connection ends. Nothing is read meanwhile, so that the peer has to wait in turn. Peers are told that this side
// works as long as the peer takes something. A handler that holds a lock must not call it.
func (c *ServerConn) AwaitRoom(limit int) { c.out.awaitRoom(limit) }

// Queued returns how many bytes wait to be written to the peer, or are being written.
func (c *ServerConn) Queued() int { return c.out.queued() }

// RemoteAddr returns the peer's address.
func (c *ServerConn) RemoteAddr() net.Addr { return c.conn.RemoteAddr() }

// Close ends the connection without waiting; Handler.Closed follows.
func (c *ServerConn) Close() { c.fail(ErrClosed) }

// serve is the life of a connection.
func (c *ServerConn) serve() {
	defer c.server.remove(c)
	hello, err := c.shakeHands()
	if err != nil {
		c.refused(c.end(err), hello)
		return
	}
	c.start()
	err = c.receive(hello)
	if c.draining.Load() && errors.Is(err, os.ErrDeadlineExceeded) {
		c.out.stop(outboxFinishing)
		c.writer.Wait()
		err = ErrClosed
	}
	err = c.end(err)
	if errors.Is(err, ErrPanic) {
		c.server.cfg.Logger.Error("peer connection closed by a panic: please report this", "peer", hello.Name, "error", err)
	}
	if err := c.closed(err); err != nil {
		c.server.cfg.Logger.Error("panic after a peer connection: please report this", "peer", hello.Name, "error", err)
	}
}

func (c *ServerConn) shakeHands() (hello Hello, err error) {
	defer capturePanic(&err)
	return c.shake(c.server.cfg.Options, func(h *handshake) (Hello, error) {
		if err := c.acceptTLS(&c.server.cfg.Options); err != nil {
			return Hello{}, err
		}
		return h.accept(c.server.cfg.Accept)
	})
}

// refused logs a handshake that did not succeed: as a warning when this side refused,
// or when the peer does not speak the protocol, and not with every new attempt. A peer
// that refuses this side tells its own operator, and somebody who connects and goes
// away, as a port check does, is no fault; nor is our own shutdown.
func (c *ServerConn) refused(err error, hello Hello) {
	level := slog.LevelWarn
	if lost(err) || errors.Is(err, ErrRefused) || errors.Is(err, errQuestion) || c.draining.Load() || !c.server.isNews(err) {
		level = slog.LevelDebug
	}
	c.server.cfg.Logger.Log(context.Background(), level, "peer connection refused",
		"remote", c.RemoteAddr(), "role", hello.Role, "peer", hello.Name, "error", err)
}

// receive announces the connection and delivers what comes on it.
func (c *ServerConn) receive(hello Hello) (err error) {
	defer capturePanic(&err)
	c.server.cfg.Handler.Open(c, hello)
	c.server.opened(c)
	// The handshake took away the deadline by which drain ends the reading.
	if c.draining.Load() {
		return os.ErrDeadlineExceeded
	}
	return c.read(c)
}

func (c *ServerConn) closed(err error) (failure error) {
	defer capturePanic(&failure)
	c.server.cfg.Handler.Closed(c, err)
	return nil
}

// drain makes the reader stop. What is queued is still written.
func (c *ServerConn) drain() {
	c.draining.Store(true)
	_ = c.conn.SetReadDeadline(time.Unix(1, 0))
}

func (c *ServerConn) frame(typ FrameType, body []byte, age time.Duration) {
	c.server.cfg.Handler.Frame(c, typ, body, age)
}

func (c *ServerConn) idle() { c.server.cfg.Handler.Idle(c) }

func (c *ServerConn) goodbye(typ FrameType) error {
	if typ != frameLeft {
		return fmt.Errorf("%w: only servers leave", ErrProtocol)
	}
	c.server.cfg.Handler.Idle(c) // nothing follows
	c.server.left(c)
	return nil
}

func (c *ServerConn) stuck() bool { return c.server.isStuck() }

// working: a server asks for nothing.
func (c *ServerConn) working() error {
	return fmt.Errorf("%w: work that nobody asked for", ErrProtocol)
}

// pong: a server sends no pings.
func (c *ServerConn) pong([]byte) error {
	return fmt.Errorf("%w: an answer to no ping", ErrProtocol)
}
