package replica

import (
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/eviction"
	"github.com/quolldb/quoll/ring"
)

// Tracks reports whether the use of keys is to be noted.
func (h *Host) Tracks() bool { return h.evicting != nil && h.evicting.Tracks() }

// Use notes that a key was used, if that is to be noted. The slot's stripe is locked.
func (h *Host) Use(slot uint16, key []byte) {
	if h.Tracks() {
		h.evicting.Use(slot, key)
	}
}

// lendUsage gives OBJECT what is known here of the use of its key. The slot's stripe is locked.
func (h *Host) lendUsage(req *command.Request) {
	if h.evicting == nil || len(req.Args) < 2 {
		return
	}
	settings, now := h.evicting.Eviction(), eviction.ClockOf(h.opt.Mono())
	req.Tracking = settings.Policy.Tracks()
	u, known := h.evicting.Used(ring.SlotOf(req.Args[1]), req.Args[1])
	if !known {
		u = eviction.New(now, settings)
	}
	req.Idle, req.Frequency = u.Idle(now), u.Frequency(now, settings)
}
