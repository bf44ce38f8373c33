package register

import "github.com/quolldb/quoll/internal/record"

// How a tombstone goes away (R13): the home waits for a while until all members have acknowledged it, tells them to drop it, and each
// raises its floor as it does.

// lingers reports whether a tombstone waits for the acknowledgement of all members, so that it can be purged.
func (h *Home) lingers(ks *keyState) bool {
	if h.phase != leading || !ks.known || !ks.present || ks.head.State.Live() ||
		ks.head.Version.Ballot != h.ballot || h.config.Joint() || h.config.all(ks.exact) && !h.batching() {
		return false
	}
	now := h.in.Mono
	if ks.settled == 0 {
		ks.settled = now
		h.missed(ks) // a member that is back before the end of the time would not get it again
	}
	return now-ks.settled < h.timing.Linger
}

// purge tells the members to drop a tombstone that all of them acknowledged, under one final epoch.
func (h *Home) purge(ks *keyState) {
	if ks.head.State.Live() || h.config.Joint() || !h.config.all(ks.exact) || h.in.Full || h.batching() {
		return
	}
	h.count(Purged)
	x := h.out.request(Purge)
	x.Key, x.Version = ks.key, ks.head.Version
	h.send(x, h.config.members) // it begins no round, for its replies count for nothing
}

// purge drops the tombstone that a message names, and raises the floor so that no older message brings the key back.
func (a *Acceptor) purge(m *Message, w *Write) error {
	rec, present, err := a.store.Get(a.slot, m.Key)
	if err != nil || !present || rec.Version != m.Version || rec.State.Live() {
		return err
	}
	meta := a.change(w)
	meta.Floor = record.Max(meta.Floor, m.Version)
	w.Kind, w.Key = WriteDelete, m.Key
	return nil
}
