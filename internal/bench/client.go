package bench

import (
	"fmt"
	"math/rand/v2"
	"net"
	"strconv"
	"time"
)

// client is one connection and its goroutine's buffers.
type client struct {
	conn    net.Conn
	in      reader
	out     []byte
	sent    []sent
	written []uint64 // the keys of the pipeline before, of phases that read them back

	opt      *Options
	prefix   int // which of the prefixes
	requests requests
	random   *rand.Rand
	pick     func() uint64
	recorder *recorder
	wait     []byte // the WAIT command, if there is one

	start, read time.Time  // when the pipeline was written, and when something was read last
	ready       [kinds]int // answers of that read which are not recorded yet
	unconfirmed int        // writes that wait for WAIT's answer
	body        func(at int, piece []byte)
	checking    uint64 // the key whose value body sees
	differs     bool
}

// sent is a command that has no answer yet.
type sent struct {
	kind kind
	key  uint64
}

const (
	leastBuffer = 8 << 10
	mostBuffer  = 64 << 10
)

func newClient(conn net.Conn, opt *Options, number int, values values, rec *recorder) *client {
	prefix := 0
	if len(opt.Prefixes) > 1 {
		prefix = number % len(opt.Addresses)
	}
	keys := newKeyspace(opt.prefix(prefix), opt.KeySize, len(strconv.Itoa(opt.Keys-1)))
	random := rand.New(rand.NewPCG(uint64(number), 1))
	c := &client{
		conn: conn, opt: opt, prefix: prefix, requests: newRequests(keys, values),
		random: random, pick: picker(random, opt.Distribution, opt.Keys), recorder: rec,
	}
	size := min(max(leastBuffer, opt.Depth*(opt.ValueSize+32)), mostBuffer)
	c.in = reader{from: conn, buf: make([]byte, size), onRead: c.onRead}
	if opt.Wait > 0 {
		c.wait = command("WAIT", strconv.Itoa(opt.Wait), waitTimeout)
	}
	if opt.Check {
		c.body = func(at int, piece []byte) { c.differs = c.differs || !values.matches(c.checking, at, piece) }
	}
	return c
}

// work does a phase until it is over or the connection fails.
func (c *client) work(p *phase) error {
	c.written = c.written[:0]
	for c.compose(p) {
		if err := c.exchange(); err != nil {
			return err
		}
	}
	return nil
}

// compose makes the next pipeline. There is none if the phase is over.
func (c *client) compose(p *phase) bool {
	c.out, c.sent = c.out[:0], c.sent[:0]
	switch {
	case p.load != nil:
		first, n := p.claimLoad(c.prefix, p.depth, c.opt.Keys)
		for i := range n {
			c.set(first + uint64(i))
		}
	case p.echo:
		c.composeEcho(p.claim(p.depth))
	default:
		for range p.claim(p.depth) {
			if p.fraction == 1 || p.fraction > 0 && c.random.Float64() < p.fraction {
				c.set(c.pick())
			} else {
				c.get(c.pick())
			}
		}
	}
	return len(c.sent) > 0
}

// composeEcho writes n keys, or reads those that the pipeline before has written.
func (c *client) composeEcho(n int) {
	if len(c.written) > 0 {
		for _, key := range c.written[:min(n, len(c.written))] {
			c.get(key)
		}
		c.written = c.written[:0]
		return
	}
	for range n {
		key := c.pick()
		c.set(key)
		c.written = append(c.written, key)
	}
}

func (c *client) set(key uint64) {
	c.out = c.requests.appendSet(c.out, key)
	c.sent = append(c.sent, sent{set, key})
}

func (c *client) get(key uint64) {
	c.out = c.requests.appendGet(c.out, key)
	c.sent = append(c.sent, sent{get, key})
}

// exchange sends the pipeline and takes its answers.
func (c *client) exchange() error {
	writes := false
	for i := range c.sent {
		writes = writes || c.sent[i].kind == set
	}
	confirm := writes && c.wait != nil
	if confirm {
		c.out = append(c.out, c.wait...)
	}
	c.start = time.Now()
	if _, err := c.conn.Write(c.out); err != nil {
		return err
	}
	for i := range c.sent {
		if err := c.answer(&c.sent[i]); err != nil {
			return err
		}
	}
	if confirm {
		if err := c.confirmed(); err != nil {
			return err
		}
	}
	c.record()
	return nil
}

// answer takes the answer of one command.
func (c *client) answer(s *sent) error {
	r, err := c.in.next()
	switch {
	case err != nil:
		return err
	case r.kind == '-':
		c.recorder.failed(s.kind, 1, string(r.text))
		return nil
	case s.kind == set && r.kind == '+':
		if c.wait != nil {
			c.unconfirmed++
		} else {
			c.ready[set]++
		}
		return nil
	case s.kind == get && r.kind == '$':
		return c.value(s.key, int(r.n))
	}
	return fmt.Errorf("%w: SET or GET was answered with %q", errNotRESP, string(r.kind)+string(r.text))
}

// value takes the value of a key, of n bytes, and looks at it if that is asked for.
func (c *client) value(key uint64, n int) error {
	if n < 0 {
		c.ready[get]++
		c.recorder.isMissing()
		return nil
	}
	c.checking, c.differs = key, c.opt.Check && n != c.opt.ValueSize
	if err := c.in.body(n, c.body); err != nil {
		return err
	}
	if c.differs {
		c.recorder.isWrong()
	}
	c.ready[get]++
	return nil
}

// confirmed takes the answer of WAIT.
func (c *client) confirmed() error {
	r, err := c.in.next()
	switch {
	case err != nil:
		return err
	case r.kind == ':' && r.n >= int64(c.opt.Wait):
		c.ready[set] += c.unconfirmed
	case r.kind == ':':
		c.recorder.failed(set, c.unconfirmed, fmt.Sprintf("WAIT: %d replicas acknowledged, not %d", r.n, c.opt.Wait))
	case r.kind == '-':
		c.recorder.failed(set, c.unconfirmed, "WAIT: "+string(r.text))
	default:
		return fmt.Errorf("%w: WAIT was answered with %q", errNotRESP, string(r.kind)+string(r.text))
	}
	c.unconfirmed = 0
	return nil
}

// onRead records what the read before this one has brought.
func (c *client) onRead() {
	c.record()
	c.read = time.Now()
}

func (c *client) record() {
	for k, n := range c.ready {
		if n > 0 {
			c.recorder.answered(kind(k), c.read.Sub(c.start), n)
			c.ready[k] = 0
		}
	}
}
