package world

import (
	"cmp"
	"context"
	"hash/fnv"
	"math/rand/v2"
	"net"
	"net/netip"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

// network connects the hosts of a world. Its methods may be called from any goroutine.
type network struct {
	seed uint64

	mu      sync.Mutex
	hosts   map[netip.Addr]*host
	paths   map[way]*path
	streams map[way]int // how many connections have been dialed, so that each has random numbers of its own
	conns   map[*end]struct{}
	ends    int // of connections, as many as there have been
}

// way is a direction between two hosts, by their names.
type way struct{ from, to string }

// path is the way of bytes from one host to another. The fields may change at any time.
type path struct {
	cut     atomic.Bool  // nothing arrives; what is sent meanwhile arrives later, as TCP sends it again
	latency atomic.Int64 // in nanoseconds, the least that bytes take
	jitter  atomic.Int64 // and what they may take beyond that
	lossy   atomic.Int64 // of a thousand writes, how many are lost once and sent again: they take resend longer
}

const (
	usualLatency = 100 * time.Microsecond
	usualJitter  = 400 * time.Microsecond
	// resend is after what time TCP sends again what was lost.
	resend = 200 * time.Millisecond
)

func newNetwork(seed uint64) *network {
	return &network{seed: seed, hosts: map[netip.Addr]*host{}, paths: map[way]*path{}, streams: map[way]int{}, conns: map[*end]struct{}{}}
}

// host returns a new host.
func (n *network) host(name string) *host {
	n.mu.Lock()
	defer n.mu.Unlock()
	address := netip.AddrFrom4([4]byte{10, 0, 0, byte(len(n.hosts) + 1)})
	h := &host{net: n, name: name, address: address, state: running, listeners: map[uint16]*listener{}, sockets: map[uint16]*packets{}}
	n.hosts[address] = h
	return h
}

// path returns the way between two hosts.
func (n *network) path(from, to string) *path {
	n.mu.Lock()
	defer n.mu.Unlock()
	r := way{from, to}
	if n.paths[r] == nil {
		p := &path{}
		p.latency.Store(int64(usualLatency))
		p.jitter.Store(int64(usualJitter))
		n.paths[r] = p
	}
	return n.paths[r]
}

// random returns the random numbers of the next connection on a route: the same in each run of a seed in which connections on the route
// come about in the same order.
func (n *network) random(r way) *rand.Rand {
	n.mu.Lock()
	defer n.mu.Unlock()
	n.streams[r]++
	return randomOf(n.seed, r.from, r.to, string(rune('0'+n.streams[r])))
}

// randomOf returns random numbers that follow from a seed and some words.
func randomOf(seed uint64, words ...string) *rand.Rand {
	h := fnv.New64a()
	for _, w := range words {
		_, _ = h.Write([]byte(w))
		_, _ = h.Write([]byte{0})
	}
	return rand.New(rand.NewPCG(seed, h.Sum64()))
}

// sharedRandom is randomOf for several goroutines.
func sharedRandom(seed uint64, words ...string) *rand.Rand {
	return rand.New(&lockedSource{random: randomOf(seed, words...)})
}

type lockedSource struct {
	mu     sync.Mutex
	random *rand.Rand
}

func (s *lockedSource) Uint64() uint64 {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.random.Uint64()
}

// heal makes all paths as they were in the beginning.
func (n *network) heal() {
	n.mu.Lock()
	for _, p := range n.paths {
		p.cut.Store(false)
		p.latency.Store(int64(usualLatency))
		p.jitter.Store(int64(usualJitter))
		p.lossy.Store(0)
	}
	n.mu.Unlock()
	n.poke()
}

// cut cuts a direction, or heals it.
func (n *network) cut(from, to string, cut bool) {
	n.path(from, to).cut.Store(cut)
	n.poke()
}

// poke has all connections look at their paths again.
func (n *network) poke() {
	for _, e := range n.open(func(*end) bool { return true }) {
		e.in.poke()
	}
}

// reset breaks the connections between two hosts, in either direction, as a middlebox does that has forgotten them.
func (n *network) reset(a, b string) {
	between := func(e *end) bool {
		return e.in.way == way{a, b} || e.in.way == way{b, a}
	}
	for _, e := range n.open(between) {
		e.in.breakOff(syscall.ECONNRESET)
	}
}

// open returns the ends of connections of which something is so.
func (n *network) open(is func(*end) bool) (ends []*end) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for e := range n.conns {
		if is(e) {
			ends = append(ends, e)
		}
	}
	slices.SortFunc(ends, func(a, b *end) int { return cmp.Compare(a.number, b.number) })
	return ends
}

// left returns how many ends of connections have not been closed.
func (n *network) left() int { return len(n.open(func(*end) bool { return true })) }

// dial connects two hosts, as the first of them asks for it.
func (n *network) dial(ctx context.Context, from *host, address string) (net.Conn, error) {
	to, port, err := n.resolve(address)
	if err != nil {
		return nil, opError("dial", err)
	}
	there, back := n.path(from.name, to.name), n.path(to.name, from.name)
	random := n.random(way{from.name, to.name})
	if err := sleep(ctx, there.delay(random)+back.delay(random)); err != nil {
		return nil, opError("dial", err)
	}
	if there.cut.Load() || back.cut.Load() || to.is(silent) {
		<-ctx.Done()
		return nil, opError("dial", context.Cause(ctx))
	}
	if !from.is(running) {
		return nil, opError("dial", syscall.ENETDOWN)
	}
	l := to.listening(port)
	if l == nil {
		return nil, opError("dial", syscall.ECONNREFUSED)
	}
	mine, theirs := n.pair(from, to, port, random)
	select {
	case l.backlog <- theirs:
		return mine, nil
	default:
		mine.Close()
		theirs.Close()
		return nil, opError("dial", syscall.ECONNREFUSED)
	}
}

func (n *network) resolve(address string) (*host, uint16, error) {
	at, err := netip.ParseAddrPort(address)
	if err != nil {
		return nil, 0, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if h := n.hosts[at.Addr()]; h != nil {
		return h, at.Port(), nil
	}
	return nil, 0, syscall.EHOSTUNREACH
}

// delay is how long some bytes take.
func (p *path) delay(random *rand.Rand) time.Duration {
	d := time.Duration(p.latency.Load())
	if jitter := p.jitter.Load(); jitter > 0 {
		d += time.Duration(random.Int64N(jitter))
	}
	if random.Int64N(1000) < p.lossy.Load() {
		d += resend
	}
	return d
}

func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func opError(op string, err error) error { return &net.OpError{Op: op, Net: "tcp", Err: err} }
