// Package loginlimit slows down whoever guesses passwords, by where they come from. An address that was wrong too often is not
// listened to for a moment, whatever it says: if a right password were still taken, guessing would go on as fast.
//
// Its price: who shares an address with somebody who is always wrong is refused with him, until that one stops.
package loginlimit

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

// Limiter counts wrong passwords of one door. The zero value is ready, and may be used by several goroutines.
type Limiter struct {
	// Wrong counts wrong passwords, Refused those that were not looked at.
	Wrong, Refused atomic.Uint64

	mu sync.Mutex
	// until is when all that an address did is forgiven: each wrong password moves it on by Every.
	until map[netip.Addr]time.Time
	// forgiven is when those that had waited long enough were forgotten last.
	forgiven time.Time
}

// Allowed reports whether somebody at an address may try a password now. If not it is counted as refused.
func (l *Limiter) Allowed(from net.Addr) bool {
	l.mu.Lock()
	until, found := l.until[l.place(from)]
	l.mu.Unlock()
	if !found || time.Until(until) < Burst*Every {
		return true
	}
	l.Refused.Add(1)
	return false
}

// Failed counts a wrong password.
func (l *Limiter) Failed(from net.Addr) {
	l.Wrong.Add(1)
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if len(l.until) >= maxAddresses && now.Sub(l.forgiven) > time.Second {
		l.forgive(now)
	}
	if l.until == nil {
		l.until = map[netip.Addr]time.Time{}
	}
	place := l.place(from)
	until := l.until[place]
	if until.Before(now) {
		until = now
	}
	l.until[place] = until.Add(Every)
}

// forgive forgets the addresses that have waited long enough.
func (l *Limiter) forgive(now time.Time) {
	l.forgiven = now
	for place, until := range l.until {
		if until.Before(now) {
			delete(l.until, place)
		}
	}
}

// place is what is counted together: an IPv4 address, or the 64 bits of an IPv6 address that one customer of a provider has;
// all addresses together that are not known when there is no more room. The caller holds the lock.
func (l *Limiter) place(from net.Addr) netip.Addr {
	tcp, ok := from.(*net.TCPAddr)
	if !ok {
		return netip.Addr{}
	}
	addr := tcp.AddrPort().Addr().Unmap().WithZone("")
	if addr.Is6() {
		prefix, _ := addr.Prefix(64) // 64 is a length that there is
		addr = prefix.Addr()
	}
	if _, known := l.until[addr]; !known && len(l.until) >= maxAddresses {
		return netip.Addr{}
	}
	return addr
}
