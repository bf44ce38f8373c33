package pipes

import (
	"context"
	"io"
	"net"
	"sync"
)

// Listener is a net.Listener whose connections come from Dial, and from another listener if it joins one. Any goroutine may use it.
type Listener struct {
	conns  chan net.Conn
	failed chan error // of the other listener's Accept
	closed chan struct{}
	once   sync.Once
	others net.Listener // nil for none
	taking sync.WaitGroup
}

// Listen returns a listener.
func Listen() *Listener {
	return &Listener{conns: make(chan net.Conn), failed: make(chan error), closed: make(chan struct{})}
}

// Join returns a listener that accepts what others does, too, which it owns: a server has one for both.
func Join(others net.Listener) *Listener {
	l := Listen()
	l.others = others
	l.taking.Go(l.take)
	return l
}

// take accepts what comes from elsewhere. A failure is the next Accept's, which may be called again after it.
func (l *Listener) take() {
	for {
		conn, err := l.others.Accept()
		if err != nil {
			select {
			case l.failed <- err:
			case <-l.closed:
				return
			}
			continue
		}
		select {
		case l.conns <- conn:
		case <-l.closed:
			conn.Close()
			return
		}
	}
}

// Dial connects with whoever accepts next, and blocks until then, until the listener is closed (io.ErrClosedPipe) or ctx ends. The address is not looked at.
func (l *Listener) Dial(ctx context.Context, _ string) (net.Conn, error) {
	near, far := Pipe()
	select {
	case l.conns <- far:
		return near, nil
	case <-l.closed:
		return nil, io.ErrClosedPipe
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

// Accept implements net.Listener.
func (l *Listener) Accept() (net.Conn, error) {
	select {
	case conn := <-l.conns:
		return conn, nil
	case err := <-l.failed:
		return nil, err
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

// Close implements net.Listener. It waits until nothing more is accepted from elsewhere.
func (l *Listener) Close() (err error) {
	l.once.Do(func() {
		close(l.closed)
		if l.others != nil {
			err = l.others.Close()
			l.taking.Wait()
		}
	})
	return err
}

// Addr implements net.Listener: it is that of the joined one, if there is one.
func (l *Listener) Addr() net.Addr {
	if l.others != nil {
		return l.others.Addr()
	}
	return address{}
}
