package sim

import (
	"maps"
	"slices"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/proxy/quorum"
)

// decide says what a transfer copies, and what homes have to write again. It reports false as long as
// that takes more old members to show what they hold.
func (t *transfer) decide() bool {
	if len(t.shown) < quorum.Majority(len(t.old)) {
		return false
	}
	var copied snapshot
	var rewrites []*rewrite
	for slot := range uint16(slots) {
		cleared, agreed := t.agreed(func(from *snapshot) record.Record { return record.Record{Version: from.metas[slot].Cleared} })
		if !(agreed && t.carries()) && !t.allStayingShown() {
			return false // one of them may hold what a clear has removed elsewhere
		}
		copied.metas[slot] = t.merge(slot, cleared.Version)
		copied.records[slot] = map[string]record.Record{}
		again := map[string]bool{}
		for _, key := range t.keysShown(slot) {
			rec, agreed := t.agreed(func(from *snapshot) record.Record { return from.read(slot, key) })
			if agreed && cleared.Version.Less(rec.Version) {
				copied.records[slot][key] = rec
			}
			if !agreed || !t.carries() {
				again[key] = true
			}
		}
		if !t.carries() && len(again) == 0 { // a term is needed all the same, for what is promised
			again[keysOf(slot)[0]] = true
		}
		for _, key := range slices.Sorted(maps.Keys(again)) {
			rewrites = append(rewrites, &rewrite{transfer: t, cmd: cmd{Name: "repair", Key: key, Slot: slot}, sent: t.sim.now - resend})
		}
		t.sim.count("copied", len(copied.records[slot]))
	}
	t.copied, t.rewrites = &copied, rewrites
	t.sim.count("rewritten", len(rewrites))
	return true
}

// carries reports whether what a majority of the old members hold is held by a majority of the new ones
// as soon as all that join have it, whichever of the old ones these are.
func (t *transfer) carries() bool {
	leaving := len(t.old) - (len(t.next) - len(t.joining))
	return max(0, quorum.Majority(len(t.old))-leaving)+len(t.joining) >= quorum.Majority(len(t.next))
}

// allStayingShown reports whether all old members that are new ones, too, have shown what they hold.
func (t *transfer) allStayingShown() bool {
	return !slices.ContainsFunc(t.old, func(id uint16) bool { return slices.Contains(t.next, id) && t.shown[id] == nil })
}

// agreed returns what a majority of the old members show in one and the same version.
func (t *transfer) agreed(of func(*snapshot) record.Record) (record.Record, bool) {
	votes := map[record.Version]int{}
	for _, from := range t.shown {
		rec := of(from)
		if votes[rec.Version]++; votes[rec.Version] == quorum.Majority(len(t.old)) {
			return rec, true
		}
	}
	return record.Record{}, false
}

// merge returns what becomes of the state of a slot. A clear that is not copied raises the floor: who has a write in
// doubt that it removed finds neither of them (R11).
func (t *transfer) merge(slot uint16, cleared record.Version) record.SlotMeta {
	meta := record.SlotMeta{Cleared: cleared}
	for _, from := range t.shown {
		shown := &from.metas[slot]
		meta.Floor = record.Max(meta.Floor, record.Max(shown.Floor, shown.Cleared))
		if meta.Promised.Less(shown.Promised) {
			meta.Promised = shown.Promised
		}
	}
	return meta
}

// keysShown returns the keys of which some member has shown a record, in order.
func (t *transfer) keysShown(slot uint16) []string {
	shown := map[string]bool{}
	for _, from := range t.shown {
		for key := range from.records[slot] {
			shown[key] = true
		}
	}
	return slices.Sorted(maps.Keys(shown))
}

// read returns what a replica that holds this says of a key.
func (held *snapshot) read(slot uint16, key string) record.Record {
	if rec, ok := held.records[slot][key]; ok {
		return rec
	}
	return record.Record{Version: held.metas[slot].Cleared}
}
