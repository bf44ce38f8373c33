package topology

import (
	"context"
	"net"
	"sync"
	"sync/atomic"
	"time"
)

// Config says which proxies there are.
type Config struct {
	// Announce is where clients reach this proxy, host:port. Empty: where the one who asks has reached it.
	Announce string
	// Proxies are all proxies, in the same order for each of them; this one may be among them. They are asked whether they are there.
	Proxies []string
	// Dial connects to another one (default: by TCP).
	Dial func(ctx context.Context, address string) (net.Conn, error)
}

const (
	// every is how often the others are asked, and patience how long they have.
	every    = time.Second
	patience = time.Second
	// misses is how often one has not to answer until it is left out.
	misses = 2
)

// Proxies knows which proxies answer. Any goroutine may use it.
type Proxies struct {
	cfg    Config
	missed map[string]*atomic.Int32 // how often each of the others has not answered since it did last
}

// New returns a topology of proxies in which all are taken to be there until Watch has found out.
func New(cfg Config) *Proxies {
	if cfg.Dial == nil {
		cfg.Dial = func(ctx context.Context, address string) (net.Conn, error) {
			return new(net.Dialer).DialContext(ctx, "tcp", address)
		}
	}
	t := &Proxies{cfg: cfg, missed: map[string]*atomic.Int32{}}
	for _, address := range cfg.Proxies {
		if address != cfg.Announce {
			t.missed[address] = new(atomic.Int32)
		}
	}
	return t
}

// Members returns the proxies. local is where the client has reached this one. It does not block.
func (t *Proxies) Members(local net.Addr) []Member {
	self := t.cfg.Announce
	if self == "" {
		self = local.String()
	}
	return layout(t.cfg.Proxies, self, func(address string) bool { return t.missed[address].Load() < misses })
}

// Elsewhere implements what clients are told of a slot: no proxy sends a client to another one.
func (t *Proxies) Elsewhere(uint16) (address string, elsewhere bool) { return "", false }

// Holds reports false: proxies hold nothing.
func (t *Proxies) Holds(uint16) bool { return false }

// Watch asks the other proxies, again and again, whether they are there, until ctx ends. It blocks; its caller owns the goroutine.
func (t *Proxies) Watch(ctx context.Context) {
	ticker := time.NewTicker(every)
	defer ticker.Stop()
	for {
		var asked sync.WaitGroup
		for address, missed := range t.missed {
			asked.Go(func() {
				if t.answers(ctx, address) {
					missed.Store(0)
				} else {
					missed.Add(1)
				}
			})
		}
		asked.Wait()
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		}
	}
}

// answers reports whether a proxy says anything when it is spoken to: one that hangs takes connections, and no more. That it wants a password is an
// answer, too, and so is that of a port with TLS.
func (t *Proxies) answers(ctx context.Context, address string) bool {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	conn, err := t.cfg.Dial(ctx, address)
	if err != nil {
		return false
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { _ = conn.Close() })()
	if _, err := conn.Write([]byte("PING\r\n")); err != nil {
		return false
	}
	n, _ := conn.Read(make([]byte, 1))
	return n > 0
}
