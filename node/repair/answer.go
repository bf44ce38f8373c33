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
	version, slots, err := protocol.DecodeSlots(payload)
	if err == nil {
		err = r.knows(version)
	}
	if err != nil {
		return nil, err
	}
	return protocol.AppendSlotDigests(nil, r.digests(version, slots)), nil
}

// knows returns an error unless this node knows a version of the ring, or a later one.
func (r *Repairer) knows(version uint64) error {
	table, _ := r.node.Ring()
	switch {
	case table == nil:
		return errNoRing
	case version > table.Version():
		return protocol.ErrChanged
	}
	return nil
}

// holds returns an error unless this node holds a slot, as whoever knows a version of the ring would say, too. The slot is locked.
func (r *Repairer) holds(version uint64, slot uint16) error {
	table, self := r.node.Ring()
	switch {
	case table == nil:
		return errNoRing
	case table.Epoch(slot) > version:
		return protocol.ErrChanged
	case !table.Contains(slot, self):
		return errNotReplica
	}
	return nil
}

// digests returns the digest of every one of some slots that this node has and that holds anything. Engines keep
// them up to date with every write, so it costs next to nothing.
func (r *Repairer) digests(version uint64, slots []uint16) []protocol.SlotDigest {
	digests := make([]protocol.SlotDigest, 0, len(slots))
	for _, slot := range slots {
		stats, err := r.stats(version, slot)
		digest := protocol.SlotDigest{Slot: slot, Digest: stats.Root()}
		switch {
		case errors.Is(err, errNotReplica):
			continue
		case errors.Is(err, protocol.ErrChanged):
			digest.Changed = true
		case err != nil:
			digest.Unreadable = true
			r.node.Unreadable(slot, err)
		case digest.Digest == 0:
			continue
		}
		digests = append(digests, digest)
	}
	return digests
}

func (r *Repairer) stats(version uint64, slot uint16) (engine.SlotStats, error) {
	locked := r.node.Lock(slot)
	defer locked.Unlock()
	if err := r.holds(version, slot); err != nil {
		return engine.SlotStats{}, err
	}
	if err := locked.Readable(slot); err != nil {
		return engine.SlotStats{}, err
	}
	return locked.Stats(slot)
}

// AnswerLeaves answers a MethodLeaves call: it tells the leaves of slots, as far as they can be read.
func (r *Repairer) AnswerLeaves(payload []byte) ([]byte, error) {
	version, slots, err := protocol.DecodeSlots(payload)
	if err == nil {
		err = r.knows(version)
	}
	if err != nil {
		return nil, err
	}
	list := make([]protocol.SlotLeaves, 0, len(slots))
	for _, slot := range slots {
		leaves, err := r.leavesAsOf(version, slot)
		switch {
		case err == nil:
			list = append(list, protocol.SlotLeaves{Slot: slot, Leaves: leaves})
		case !errors.Is(err, protocol.ErrChanged) && !errors.Is(err, errNotReplica):
			r.node.Unreadable(slot, err)
		}
	}
	return protocol.AppendLeaves(nil, list), nil
}

func (r *Repairer) leavesAsOf(version uint64, slot uint16) (engine.Leaves, error) {
	locked := r.node.Lock(slot)
	defer locked.Unlock()
	if err := r.holds(version, slot); err != nil {
		return engine.Leaves{}, err
	}
	if err := locked.Readable(slot); err != nil {
		return engine.Leaves{}, err
	}
	return locked.Leaves(slot)
}

// AnswerVersions answers a MethodVersions call: it tells which versions this node's replicas hold of keys, zero for none.
func (r *Repairer) AnswerVersions(payload []byte) ([]byte, error) {
	version, keys, err := protocol.DecodeVersionsRequest(payload)
	if err == nil {
		err = r.knows(version)
	}
	if err != nil {
		return nil, err
	}
	versions := make([]record.Version, len(keys))
	for i, k := range keys {
		if k.Slot >= ring.Slots {
			return nil, errNotReplica
		}
		if versions[i], err = r.version(version, k); err != nil {
			if !errors.Is(err, protocol.ErrChanged) && !errors.Is(err, errNotReplica) {
				r.node.Unreadable(k.Slot, err)
			}
			return nil, err
		}
	}
	return protocol.AppendVersions(nil, versions), nil
}

func (r *Repairer) version(version uint64, k protocol.SlotKey) (record.Version, error) {
	locked := r.node.Lock(k.Slot)
	defer locked.Unlock()
	if err := r.holds(version, k.Slot); err != nil {
		return record.Version{}, err
	}
	if err := locked.Readable(k.Slot); err != nil {
		return record.Version{}, err
	}
	rec, _, err := locked.Get(k.Slot, k.Key)
	return rec.Version, err
}
