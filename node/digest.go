package node

import (
	"github.com/quolldb/quoll/internal/protocol"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/ring"
)

// slotDigests returns the digest of every one of some slots that this node has and that holds anything. Engines keep
// them up to date with every write, so it costs next to nothing.
func (n *Node) slotDigests(v *view, slots []uint16) []protocol.SlotDigest {
	digests := make([]protocol.SlotDigest, 0, len(slots))
	for _, number := range slots {
		if !v.table.Contains(number, v.self) {
			continue
		}
		stats, err := n.slotStats(number)
		if err != nil {
			n.unreadable(number, err)
		}
		if digest := stats.Root(); err != nil || digest != 0 {
			digests = append(digests, protocol.SlotDigest{Slot: number, Digest: digest, Unreadable: err != nil})
		}
	}
	return digests
}

// leavesOf returns the leaves of slots, as far as they can be read.
func (n *Node) leavesOf(slots []uint16) []protocol.SlotLeaves {
	list := make([]protocol.SlotLeaves, 0, len(slots))
	for _, number := range slots {
		if leaves, err := n.slotLeaves(number); err != nil {
			n.unreadable(number, err)
		} else {
			list = append(list, protocol.SlotLeaves{Slot: number, Leaves: leaves})
		}
	}
	return list
}

func (n *Node) slotLeaves(number uint16) (engine.Leaves, error) {
	st := n.lock(number, nil)
	defer st.unlock()
	if err := st.readable(number); err != nil {
		return engine.Leaves{}, err
	}
	return n.engine.Leaves(number)
}

// versions returns which versions this node's replicas hold of keys, zero for none.
func (n *Node) versions(keys []protocol.SlotKey) ([]record.Version, error) {
	versions := make([]record.Version, len(keys))
	for i, k := range keys {
		if k.Slot >= ring.Slots {
			return nil, errNotReplica
		}
		version, err := n.version(k)
		if err != nil {
			n.unreadable(k.Slot, err)
			return nil, err
		}
		versions[i] = version
	}
	return versions, nil
}

func (n *Node) version(k protocol.SlotKey) (record.Version, error) {
	st := n.lock(k.Slot, nil)
	defer st.unlock()
	if err := st.readable(k.Slot); err != nil {
		return record.Version{}, err
	}
	rec, _, err := n.engine.Get(k.Slot, k.Key)
	return rec.Version, err
}
