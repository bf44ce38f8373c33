// Package guesses slows down whoever guesses passwords, by where they come from. An address that was wrong too often is not
// listened to for a moment, whatever it says: if a right password were still taken, guessing would go on as fast.
//
// Its price: who shares an address with somebody who is always wrong is refused with him, until that one stops.
package guesses

import (
	"net"
	"net/netip"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// Burst is how often an address may be wrong at once.
	Burst = 50
	// Every is how long it takes until it may be so once more.
	Every = 100 * time.Millisecond
	// maxAddresses bounds the memory. What comes from more addresses is counted as from one.
	maxAddresses = 10_000
)

// Guesses counts wrong passwords of one door. The zero value is ready, and may be used by several goroutines.
type Guesses struct {
	// Wrong counts wrong passwords, Refused those that were not looked at.
	Wrong, Refused atomic.Uint64

	mu sync.Mutex
	// until is when all that an address did is forgiven: each wrong password moves it on by Every.
	until map[netip.Addr]time.Time
	// forgiven is when those that had waited long enough were forgotten last.
	forgiven time.Time
}

// Allowed reports whether somebody at an address may try a password now. If not it is counted as refused.
func (g *Guesses) Allowed(from net.Addr) bool {
	g.mu.Lock()
	until, found := g.until[g.place(from)]
	g.mu.Unlock()
	if !found || time.Until(until) < Burst*Every {
		return true
	}
	g.Refused.Add(1)
	return false
}

// Failed counts a wrong password.
func (g *Guesses) Failed(from net.Addr) {
	g.Wrong.Add(1)
	g.mu.Lock()
	defer g.mu.Unlock()
	now := time.Now()
	if len(g.until) >= maxAddresses && now.Sub(g.forgiven) > time.Second {
		g.forgive(now)
	}
	if g.until == nil {
		g.until = map[netip.Addr]time.Time{}
	}
	place := g.place(from)
	until := g.until[place]
	if until.Before(now) {
		until = now
	}
	g.until[place] = until.Add(Every)
}

// forgive forgets the addresses that have waited long enough.
func (g *Guesses) forgive(now time.Time) {
	g.forgiven = now
	for place, until := range g.until {
		if until.Before(now) {
			delete(g.until, place)
		}
	}
}

// place is what is counted together: an IPv4 address, or the 64 bits of an IPv6 address that one customer of a provider has;
// all addresses together that are not known when there is no more room. The caller holds the lock.
func (g *Guesses) place(from net.Addr) netip.Addr {
	tcp, ok := from.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	addr := tcp.AddrPort().Addr().Unmap().WithZone("")
	if addr.Is6() {
		prefix, _ := addr.Prefix(64) // 64 is a length that there is
		addr = prefix.Addr()
	}
	if _, known := g.until[addr]; !known && len(g.until) >= maxAddresses {
		return netip.Addr{}
	}
	return addr
}
