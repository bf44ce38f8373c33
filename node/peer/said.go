package peer

import (
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/wire"
	"github.com/quolldb/quoll/ring"
)

// said is what a peer has said of itself and of this node. Moments are in monotonic milliseconds.
type said struct {
	leading atomic.Pointer[ring.SlotSet] // what it led when it found this node, nil before
	leaving atomic.Bool                  // it is ending, as it said on the connection of the moment
	clock   atomic.Int64                 // its system's clock, from this node's monotonic one, in milliseconds
	clockAt atomic.Int64                 // when it said so, 0 for never
	slowAt  atomic.Int64                 // when it said last that this node is slow, 0 for never
	// It has no room for writes, or for more data, until then.
	fullUntil, crowdedUntil atomic.Int64
	excess                  atomic.Int64 // how many bytes of data it has more than it is to have, 0 when that was taken note of
}

const (
	fullFor  = time.Second     // how long it is believed that a peer is full,
	slowFor  = time.Second     // that it finds this node slow,
	clockFor = 2 * time.Second // and which time it is
)

// heardFull notes that the peer is full, or crowded.
func (p *Peer) heardFull(body []byte) {
	until := p.mono() + fullFor.Milliseconds()
	switch {
	case len(body) == 1 && body[0] == protocol.OnlyCrowded:
		p.said.crowdedUntil.Store(until)
		return
	case len(body) > 1 && body[0] == protocol.OverLimit:
		d := wire.NewDecoder(body[1:])
		if excess := int64(d.Uvarint()); d.Done() == nil && excess > 0 {
			p.said.excess.Store(excess)
		}
		return
	}
	p.said.fullUntil.Store(until)
}

// Full reports whether the peer has no room for writes, as far as it said so.
func (p *Peer) Full() bool { return p.reaches(&p.said.fullUntil) }

// Crowded reports whether the peer has no room for more data, as far as it said so.
func (p *Peer) Crowded() bool { return p.reaches(&p.said.crowdedUntil) || p.Full() }

// ForgetCrowded forgets that the peer had no room for more data. If it still has none it says so again soon.
func (p *Peer) ForgetCrowded() { p.said.crowdedUntil.Store(0) }

// TakeExcess returns how many bytes of its data the peer wants evicted, as it has said since the last call; 0 for none.
func (p *Peer) TakeExcess() int64 { return p.said.excess.Swap(0) }

func (p *Peer) reaches(moment *atomic.Int64) bool {
	until := moment.Load() // 0 for most: the clock is read for each operation else
	return until != 0 && until > p.mono()
}

// Leaving reports whether the peer is ending, as it said.
func (p *Peer) Leaving() bool { return p.said.leaving.Load() }

// HeardLeading notes which slots the peer leads, as it says when it has found this node; nil if nobody knows.
func (p *Peer) HeardLeading(led *ring.SlotSet) { p.said.leading.Store(led) }

// Leading are the slots that the peer led when it found this node, nil before.
func (p *Peer) Leading() *ring.SlotSet { return p.said.leading.Load() }

// HeardSlow notes that the peer finds this node slow.
func (p *Peer) HeardSlow() { p.said.slowAt.Store(p.mono()) }

// FindsSlow reports whether the peer has found this node slow lately.
func (p *Peer) FindsSlow(now int64) bool {
	at := p.said.slowAt.Load()
	return at != 0 && now-at < slowFor.Milliseconds()
}

// HeardClock notes the time by the peer's system.
func (p *Peer) HeardClock(body []byte, age time.Duration) {
	d := wire.NewDecoder(body)
	system := int64(d.Uint64())
	if d.Done() == nil {
		now := p.mono()
		p.said.clock.Store(system + age.Milliseconds() - now)
		p.said.clockAt.Store(now)
	}
}

// Clock returns the time by the peer's system, if that is known.
func (p *Peer) Clock(now int64) (system int64, known bool) {
	system, known = p.ClockOnce(now)
	return system, known && now-p.said.clockAt.Load() < clockFor.Milliseconds()
}

// ClockOnce is Clock as the peer said it last, however long ago that is: members do not tell the time again to who is none.
func (p *Peer) ClockOnce(now int64) (system int64, known bool) {
	return p.said.clock.Load() + now, p.said.clockAt.Load() != 0
}
