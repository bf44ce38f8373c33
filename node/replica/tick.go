package replica

import (
	"math/bits"

	"github.com/quolldb/quoll/node/register"
)

// busyTicks is every how many ticks a home that is busy gets one: what takes too long is late by so little, and a
// node that writes much has a thousand such homes at any moment.
const busyTicks = 4

// Tick lets every active home look after what takes too long. It reports whether a request waits for long, though a quorum is alive.
// One goroutine calls it.
func (h *Host) Tick() (slow bool) {
	round := h.Begin()
	h.ticks++
	for i := range h.stripes {
		s := &h.stripes[i]
		s.mu.Lock()
		s.round = round
		left := s.active
		if (h.ticks+i)%busyTicks != 0 {
			left &^= s.busy
		}
		for ; left != 0; left &= left - 1 {
			k := bits.TrailingZeros64(left)
			sl := s.slots[k]
			if sl.home.Active() {
				s.step(uint16(k*stripes+i), sl, register.Tick)
				slow = slow || sl.home.Slow(round.in.Mono)
			} else {
				s.touched(uint16(k*stripes+i), sl)
			}
		}
		s.busy = 0
		s.Unlock()
	}
	round.Flush()
	return slow
}
