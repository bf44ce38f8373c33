package bench

import (
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
	written []sent // by the pipeline before, in phases that read it back

	opt    *Options
	number int // of the connection
	prefix int // which of the prefixes, or the shares
	share  share
	// collections: keys hold something that has fields, or elements.
	collections bool
	requests    requests
	random      *rand.Rand
	pick        func() uint64
	recorder    *recorder
	wait        []byte // the WAIT command, if there is one

	start, read time.Time  // when the pipeline was written, and when something was read last
	ready       [kinds]int // answers of that read which are not recorded yet
	unconfirmed [kinds]int // writes that wait for WAIT's answer
	there       bool       // what is asked for must be there

	loading uint64 // the collection that is being written
	loaded  int    // how many fields, or elements, of it have been

	body     func(at int, piece []byte)
	checking uint64 // the number of the value that body sees
	differs  bool
	naming   func(at int, piece []byte)
	name     []byte // of the field that naming has seen
}

// sent is a command that has no answer yet.
type sent struct {
	kind       kind
	key, field uint64
}

const (
	leastBuffer = 8 << 10
	mostBuffer  = 64 << 10
)

func newClient(conn net.Conn, opt *Options, number int, values values, fields *fields, rec *recorder) *client {
	prefix := 0
	if len(opt.Prefixes) > 1 || opt.Cluster {
		prefix = number % len(opt.Addresses)
	}
	keys := newKeyspace(opt.keyPrefix(prefix), opt.KeySize)
	random := rand.New(rand.NewPCG(uint64(number), 1))
	var own share
	if opt.Cluster {
		own = opt.shares[prefix]
	}
	pick := picker(random, opt.Distribution, own.keys(opt.Keys))
	c := &client{
		conn: conn, opt: opt, number: number, prefix: prefix, share: own, collections: opt.collections(), requests: newRequests(keys, values, fields), loaded: opt.Fields,
		random: random, pick: func() uint64 { return own.number(pick()) }, recorder: rec,
	}
	size := min(max(leastBuffer, opt.Depth*(opt.ValueSize+32)), mostBuffer)
	c.in = reader{from: conn, buf: make([]byte, size), onRead: c.onRead}
	if opt.Wait > 0 {
		c.wait = command("WAIT", strconv.Itoa(opt.Wait), waitTimeout)
	}
	if opt.Check {
		c.body = func(at int, piece []byte) { c.differs = c.differs || !values.matches(c.checking, at, piece) }
		c.naming = func(_ int, piece []byte) { c.name = append(c.name, piece...) }
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

// exchange sends the pipeline and takes its answers.
func (c *client) exchange() error {
	writes := false
	for i := range c.sent {
		writes = writes || c.sent[i].kind.writes()
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
