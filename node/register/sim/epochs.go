package sim

import (
	"maps"
	"slices"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/register"
)

// slots is the number of slots; all have the same members, in different orders.
const slots = 2

// epoch is one version of the ring, as an imagined control plane decides it.
type epoch struct {
	number        uint64
	members, next []uint16 // next is nil unless the epoch is joint (R16)
	configs       [slots]*register.Config
}

func newEpoch(number uint64, members, next []uint16) epoch {
	e := epoch{number: number, members: members, next: next}
	for slot := range e.configs {
		order := slices.Concat(members[slot%len(members):], members[:slot%len(members)])
		e.configs[slot] = register.NewConfig(number, order, next)
	}
	return e
}

func (e epoch) joint() bool { return e.next != nil }

// all returns the members, old and new.
func (e epoch) all() []uint16 { return e.configs[0].Members() }

// spare returns how many members may fail.
func (e epoch) spare() int {
	if e.joint() {
		return 0
	}
	return (len(e.members) - 1) / 2
}

func (s *Sim) latest() epoch { return s.epochs[len(s.epochs)-1] }

func (s *Sim) publish(members, next []uint16) epoch {
	e := newEpoch(uint64(len(s.epochs)+1), members, next)
	s.epochs = append(s.epochs, e)
	s.count("epoch", 1)
	s.trace("epoch %d: members %v, next %v", e.number, members, next)
	for _, n := range s.nodes[1:] { // every process learns it in its own time, or not at all
		if !s.chance(3) {
			s.after(s.delay(), func() { n.learn(e.number) })
		}
	}
	return e
}

// reorderMembers publishes an epoch with other preferred homes.
func (s *Sim) reorderMembers() {
	if s.changing {
		return
	}
	s.publish(s.shuffled(s.latest().members), nil)
}

func (s *Sim) shuffled(members []uint16) []uint16 {
	members = slices.Clone(members)
	s.rand.Shuffle(len(members), func(i, j int) { members[i], members[j] = members[j], members[i] })
	return members
}

// changeMembers replaces members by new nodes: a joint epoch, the transfer, the final
// epoch (R16 to R18). Those that lost their disk go first.
func (s *Sim) changeMembers(replace int) {
	if s.changing || s.healed {
		return
	}
	s.changing = true
	old := s.latest().members
	next := s.shuffled(old)
	slices.SortStableFunc(next, func(a, b uint16) int {
		switch {
		case s.nodes[a].lost == s.nodes[b].lost:
			return 0
		case s.nodes[a].lost:
			return -1
		}
		return 1
	})
	number := uint64(len(s.epochs) + 1)
	for i := range replace {
		n := s.addNode()
		n.join(number)
		next[i] = n.id
	}
	s.count("joint-epoch", 1)
	s.publish(old, next)
	t := &transfer{sim: s, epoch: number, old: old, next: next, read: map[uint16]snapshot{}, installed: map[uint16]bool{}}
	t.step()
}

// transfer carries the data of the old members to the new ones (R18).
type transfer struct {
	sim       *Sim
	epoch     uint64
	old, next []uint16
	read      map[uint16]snapshot // of old members
	installed map[uint16]bool     // on new members
}

// snapshot is all that a replica holds.
type snapshot struct {
	metas   [slots]record.SlotMeta
	records [slots]map[string]record.Record
}

// step sends what is still missing, again and again.
func (t *transfer) step() {
	s := t.sim
	switch {
	case len(t.installed) > len(t.next)/2:
		s.changing = false
		s.count("members-changed", 1)
		s.publish(t.next, nil)
		return
	case len(t.read) > len(t.old)/2:
		merged := t.merge()
		for _, id := range t.next {
			if !t.installed[id] {
				s.carry(0, id, func() { s.nodes[id].install(t, merged) })
			}
		}
	default:
		for _, id := range t.old {
			if _, ok := t.read[id]; !ok {
				s.carry(0, id, func() { s.nodes[id].snapshot(t) })
			}
		}
	}
	s.after(12, t.step)
}

// merge takes the newest of everything that a majority of the old members holds.
func (t *transfer) merge() snapshot {
	var merged snapshot
	for slot := range merged.metas {
		meta, records := &merged.metas[slot], map[string]record.Record{}
		for _, id := range t.old {
			from, ok := t.read[id]
			if !ok {
				continue
			}
			meta.Floor = record.Max(meta.Floor, from.metas[slot].Floor)
			meta.Cleared = record.Max(meta.Cleared, from.metas[slot].Cleared)
			if meta.Promised.Less(from.metas[slot].Promised) {
				meta.Promised = from.metas[slot].Promised
			}
			for key, rec := range from.records[slot] {
				if records[key].Version.Less(rec.Version) {
					records[key] = rec
				}
			}
		}
		merged.records[slot] = records
	}
	return merged
}

// snapshot reads a replica for a transfer. Adopting the joint epoch first fences it: no
// accept of the old epoch comes after what was read.
func (n *node) snapshot(t *transfer) {
	n.do(func() {
		if n.lost || n.store.failing || !n.adoptAll(t.epoch) {
			return
		}
		var copied snapshot
		if n.rotten() {
			return
		}
		for slot := range n.acceptors {
			copied.metas[slot], copied.records[slot] = n.acceptors[slot].Meta(), maps.Clone(n.store.staged.slots[slot].records)
		}
		n.hold(func() { n.sim.carry(n.id, 0, func() { t.read[n.id] = copied }) })
	})
}

// install writes what was merged to a new member: records that are newer than what
// it has, then the rest.
func (n *node) install(t *transfer, merged snapshot) {
	n.do(func() {
		if n.lost || n.store.failing || n.store.full || n.rotten() || !n.adoptAll(t.epoch) {
			return
		}
		for slot := range n.acceptors {
			n.installSlot(uint16(slot), merged.metas[slot], merged.records[slot])
		}
		n.hold(func() { n.sim.carry(n.id, 0, func() { t.installed[n.id] = true }) })
	})
}

func (n *node) installSlot(slot uint16, meta record.SlotMeta, records map[string]record.Record) {
	for _, key := range slices.Sorted(maps.Keys(records)) {
		rec := records[key]
		if held, _, _ := n.acceptors[slot].Read([]byte(key)); held.Version.Less(rec.Version) {
			_ = n.store.Put(slot, []byte(key), rec)
		}
	}
	own := n.acceptors[slot].Meta()
	own.Floor = record.Max(own.Floor, meta.Floor)
	if own.Promised.Less(meta.Promised) {
		own.Promised = meta.Promised
	}
	if own.Cleared.Less(meta.Cleared) {
		own.Cleared = meta.Cleared
		_ = n.store.Clear(slot, own)
	} else {
		_ = n.store.PutSlot(slot, own)
	}
	n.open(slot) // the acceptor reads its slot again
}

// adoptAll raises the epoch of every slot; false means that the node is further already.
func (n *node) adoptAll(epoch uint64) bool {
	for slot := range n.acceptors {
		if current, err := n.acceptors[slot].Adopt(epoch); err != nil || !current {
			return false
		}
	}
	return true
}
