package replica

import (
	"errors"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
)

// Leftover reports how many bytes, and at least one, the store holds of a slot that is not this node's any more: 0 if there is nothing, or it is the node's.
// Nobody is shown any of it, also if the slot comes to the node again (R17). A node that the ring does not know keeps what it has: it is asked for nothing.
func (h *Host) Leftover(number uint16) (bytes uint64) {
	st := h.Lock(number, nil)
	defer st.Unlock()
	_, bytes = st.leftover(number)
	return bytes
}

// leftover returns also what is to be kept of the slot. The stripe is locked.
func (s *Stripe) leftover(number uint16) (keep record.SlotMeta, bytes uint64) {
	v := s.host.view.Load()
	if v == nil || v.Self == 0 || v.Table.Contains(number, v.Self) {
		return keep, 0
	}
	meta, err := s.host.engine.Slot(number)
	stats, unread := s.host.engine.Stats(number)
	if err = errors.Join(err, unread); err != nil && !errors.Is(err, engine.ErrCorrupt) {
		s.host.StorageFailed(err)
		return keep, 0
	}
	keep = record.SlotMeta{Epoch: max(meta.Epoch, v.Table.Epoch(number)), Promised: meta.Promised, Floor: record.Max(meta.Floor, meta.Cleared)}
	if err == nil && stats == (engine.SlotStats{}) && !meta.Rebuilding {
		return keep, 0
	}
	return keep, max(1, stats.Bytes)
}

// Drop removes what Leftover found, and reports whether that is done. What the replica promised stays, and it has nothing to do with earlier epochs any more.
func (h *Host) Drop(number uint16) bool {
	round := h.Begin()
	defer round.Flush()
	st := h.Lock(number, round)
	defer st.Unlock()
	keep, bytes := st.leftover(number)
	if bytes == 0 || round.in.Full {
		return false
	}
	err := h.engine.Reset(number, keep)
	if err != nil && !errors.Is(err, engine.ErrFull) {
		h.StorageFailed(err)
	}
	return err == nil
}
