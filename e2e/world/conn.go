package world

import (
	"errors"
	"io"
	"math/rand/v2"
	"net"
	"net/netip"
	"sync"
	"syscall"
	"time"
)

// end is one end of a connection. It is a net.Conn that one goroutine reads from and another one writes to.
type end struct {
	in, out       *pipe
	local, remote net.Addr
	reading       deadline
	writing       deadline
	once          sync.Once
	net           *network
	number        int // in the order in which they came about
}

// pair connects two hosts.
func (n *network) pair(from, to *host, port uint16, random *rand.Rand) (mine, theirs *end) {
	there := newPipe(n, way{from.name, to.name}, random.Uint64())
	back := newPipe(n, way{to.name, from.name}, random.Uint64())
	here := net.TCPAddrFromAddrPort(netip.AddrPortFrom(from.address, from.freePort()))
	far := net.TCPAddrFromAddrPort(netip.AddrPortFrom(to.address, port))
	mine = &end{in: back, out: there, local: here, remote: far, reading: makeDeadline(), writing: makeDeadline(), net: n}
	theirs = &end{in: there, out: back, local: far, remote: here, reading: makeDeadline(), writing: makeDeadline(), net: n}
	n.mu.Lock()
	defer n.mu.Unlock()
	n.conns[mine], n.conns[theirs] = struct{}{}, struct{}{}
	mine.number, theirs.number = n.ends+1, n.ends+2
	n.ends += 2
	return mine, theirs
}

// Read implements net.Conn.
func (e *end) Read(p []byte) (int, error) {
	n, err := e.in.read(p, &e.reading)
	if err != nil && !errors.Is(err, io.EOF) {
		err = opError("read", err)
	}
	return n, err
}

// Write implements net.Conn.
func (e *end) Write(p []byte) (int, error) {
	n, err := e.out.write(p, &e.writing)
	if err != nil {
		err = opError("write", err)
	}
	return n, err
}

// Close implements net.Conn. What was written still arrives.
func (e *end) Close() error {
	e.once.Do(func() {
		e.out.finish()
		e.in.abandon()
		e.reading.set(time.Time{})
		e.writing.set(time.Time{})
		e.net.mu.Lock()
		defer e.net.mu.Unlock()
		delete(e.net.conns, e)
	})
	return nil
}

// CloseWrite ends what is written, as that of net.TCPConn.
func (e *end) CloseWrite() error {
	e.out.finish()
	return nil
}

// die ends the end of a process that has ended.
func (e *end) die(how hostState) {
	e.in.leave(how == silent)
	if how == killed {
		e.out.forgotten()
	} else {
		e.out.hush()
	}
}

func (e *end) LocalAddr() net.Addr  { return e.local }
func (e *end) RemoteAddr() net.Addr { return e.remote }

func (e *end) SetDeadline(t time.Time) error {
	e.reading.set(t)
	e.writing.set(t)
	return nil
}

func (e *end) SetReadDeadline(t time.Time) error {
	e.reading.set(t)
	return nil
}

func (e *end) SetWriteDeadline(t time.Time) error {
	e.writing.set(t)
	return nil
}

// window is how many bytes are under way, or not read, before a writer waits.
const window = 256 << 10

// pipe is one direction of a connection: bytes arrive in order, each after a while.
type pipe struct {
	way
	path *path

	mu        sync.Mutex
	random    *rand.Rand
	segments  []segment
	size      int
	latest    time.Time // when the last segment arrives
	finished  bool      // the writer has closed it: no more is written,
	abandoned bool      // the reader has,
	deaf      bool      // or its machine has lost its power, which nobody was told
	quiet     bool      // the writer's machine has lost its power
	unknown   bool      // the writer's host does not know of the connection any more, and says so when it is reached
	broken    error     // at both ends
	changed   chan struct{}
	room      chan struct{}
	arrival   *time.Timer // of the first segment: the reader sleeps until then, and not until it is sent
}

type segment struct {
	bytes []byte
	due   time.Time
}

func newPipe(n *network, r way, seed uint64) *pipe {
	return &pipe{way: r, path: n.path(r.from, r.to), random: rand.New(rand.NewPCG(seed, 1)), changed: make(chan struct{}, 1), room: make(chan struct{}, 1), arrival: idleTimer()}
}

func (p *pipe) read(b []byte, d *deadline) (int, error) {
	for {
		if d.passed() {
			return 0, errTimeout
		}
		n, err := p.take(b)
		if n > 0 || err != nil || len(b) == 0 {
			return n, err
		}
		select {
		case <-p.changed:
		case <-p.arrival.C:
		case <-d.timer.C:
		}
	}
}

// take takes what has arrived.
func (p *pipe) take(b []byte) (n int, err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.abandoned:
		return 0, net.ErrClosed
	case p.broken != nil:
		return 0, p.broken
	case p.path.cut.Load(), p.quiet:
		return 0, nil
	case p.unknown:
		return 0, syscall.ECONNRESET
	}
	now := time.Now()
	for n < len(b) && len(p.segments) > 0 && !p.segments[0].due.After(now) {
		s := &p.segments[0]
		k := copy(b[n:], s.bytes)
		n += k
		if s.bytes = s.bytes[k:]; len(s.bytes) == 0 {
			p.segments = p.segments[1:]
		}
	}
	switch {
	case n > 0:
		p.size -= n
		tell(p.room)
	case len(p.segments) > 0:
		p.arrival.Reset(p.segments[0].due.Sub(now))
	case p.finished && now.Before(p.latest):
		p.arrival.Reset(p.latest.Sub(now))
	case p.finished:
		err = io.EOF
	}
	return n, err
}

func (p *pipe) write(b []byte, d *deadline) (written int, err error) {
	for {
		if d.passed() {
			return written, errTimeout
		}
		n, err := p.put(b[written:])
		if written += n; err != nil || written == len(b) {
			return written, err
		}
		select {
		case <-p.room:
		case <-d.timer.C:
		}
	}
}

// put sends what there is room for.
func (p *pipe) put(b []byte) (int, error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.finished, p.quiet, p.unknown:
		return 0, net.ErrClosed
	case p.broken != nil:
		return 0, p.broken
	case p.abandoned && !p.deaf && !p.path.cut.Load():
		return 0, syscall.EPIPE
	}
	n := min(len(b), window-p.size)
	if n <= 0 {
		return 0, nil
	}
	cut := n
	if n > 1 && p.random.IntN(16) == 0 { // it travels in two packets
		cut = 1 + p.random.IntN(n-1)
	}
	p.send(b[:cut])
	if cut < n {
		p.send(b[cut:n])
	}
	return n, nil
}

func (p *pipe) send(b []byte) {
	p.arrive()
	if len(p.segments) == 0 {
		p.arrival.Reset(time.Until(p.latest))
	}
	p.segments = append(p.segments, segment{append([]byte(nil), b...), p.latest})
	p.size += len(b)
}

// arrive reckons when what is sent now arrives.
func (p *pipe) arrive() {
	if due := time.Now().Add(p.path.delay(p.random)); due.After(p.latest) {
		p.latest = due
	}
}

// change changes the state and has both sides look at it.
func (p *pipe) change(do func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	do()
	tell(p.changed)
	tell(p.room)
}

func (p *pipe) poke() { p.change(func() {}) }

func (p *pipe) finish() {
	p.change(func() {
		if !p.finished {
			p.arrive()
			p.finished = true
		}
	})
}

func (p *pipe) abandon() { p.change(func() { p.abandoned, p.segments = true, nil }) }
func (p *pipe) leave(deaf bool) {
	p.change(func() { p.abandoned, p.deaf, p.segments = true, deaf, nil })
}
func (p *pipe) hush()      { p.change(func() { p.quiet = true }) }
func (p *pipe) forgotten() { p.change(func() { p.unknown, p.quiet, p.segments = true, false, nil }) }

func (p *pipe) breakOff(err error) {
	p.change(func() {
		if p.broken == nil {
			p.broken = err
		}
	})
}

func tell(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}
