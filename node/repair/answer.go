package repair

import (
	"errors"

	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/ring"
)

// What a peer is told that compares.

var errNotReplica = errors.New("node: not a replica of the slot")

// AnswerDigests answers a MethodDigests call.
func (r *Repairer) AnswerDigests(payload []byte) ([]byte, error) {
	slots, err := protocol.DecodeSlots(payload)
	if err != nil {
		return nil, err
	}
	table, self := r.node.Ring()
	if table == nil {
		return nil, errNoRing
	}
	if len(slots) == 0 { // a node that asks for all at once
		for slot := range uint16(ring.Slots) {
			slots = append(slots, slot)
		}
	}
	return protocol.AppendSlotDigests(nil, r.digests(table, self, slots)), nil
}

// digests returns the digest of every one of some slots that this node has and that holds anything. Engines keep
// them up to date with every write, so it costs next to nothing.
func (r *Repairer) digests(table *ring.Table, self uint16, slots []uint16) []protocol.SlotDigest {
	digests := make([]protocol.SlotDigest, 0, len(slots))
	for _, slot := range slots {
		if !table.Contains(slot, self) {
			continue
		}
		stats, err := r.stats(slot)
		if err != nil {
			r.node.Unreadable(slot, err)
		}
		if digest := stats.Root(); err != nil || digest != 0 {
			digests = append(digests, protocol.SlotDigest{Slot: slot, Digest: digest, Unreadable: err != nil})
		}
	}
	return digests
}

func (r *Repairer) stats(slot uint16) (engine.SlotStats, error) {
	locked := r.node.Lock(slot)
	defer locked.Unlock()
	if err := locked.Readable(slot); err != nil {
		return engine.SlotStats{}, err
	}
	return locked.Stats(slot)
}

// AnswerLeaves answers a MethodLeaves call: it tells the leaves of slots, as far as they can be read.
func (r *Repairer) AnswerLeaves(payload []byte) ([]byte, error) {
	slots, err := protocol.DecodeSlots(payload)
	if err != nil {
		return nil, err
	}
	list := make([]protocol.SlotLeaves, 0, len(slots))
	for _, slot := range slots {
		if leaves, err := r.leaves(slot); err != nil {
			r.node.Unreadable(slot, err)
		} else {
			list = append(list, protocol.SlotLeaves{Slot: slot, Leaves: leaves})
		}
	}
	return protocol.AppendLeaves(nil, list), nil
}

func (r *Repairer) leaves(slot uint16) (engine.Leaves, error) {
	locked := r.node.Lock(slot)
	defer locked.Unlock()
	if err := locked.Readable(slot); err != nil {
		return engine.Leaves{}, err
	}
	return locked.Leaves(slot)
}

// AnswerVersions answers a MethodVersions call: it tells which versions this node's replicas hold of keys, zero for none.
func (r *Repairer) AnswerVersions(payload []byte) ([]byte, error) {
	keys, err := protocol.DecodeVersionsRequest(payload)
	if err != nil {
		return nil, err
	}
	versions := make([]record.Version, len(keys))
	for i, k := range keys {
		if k.Slot >= ring.Slots {
			return nil, errNotReplica
		}
		if versions[i], err = r.version(k); err != nil {
			r.node.Unreadable(k.Slot, err)
			return nil, err
		}
	}
	return protocol.AppendVersions(nil, versions), nil
}

func (r *Repairer) version(k protocol.SlotKey) (record.Version, error) {
	locked := r.node.Lock(k.Slot)
	defer locked.Unlock()
	if err := locked.Readable(k.Slot); err != nil {
		return record.Version{}, err
	}
	rec, _, err := locked.Get(k.Slot, k.Key)
	return rec.Version, err
}
