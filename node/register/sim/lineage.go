package sim

import (
	"github.com/quolldb/quoll/internal/lineage"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/proxy/quorum"
)

// newLineage returns a check for which versions with the same state are one.
func (s *Sim) newLineage() *lineage.Check {
	return lineage.New(func(at lineage.Key, a, b record.Version) bool { return s.stateOf(at, a) == s.stateOf(at, b) })
}

// proposed is told of every message of a home.
func (s *Sim) proposed(m *register.Message, blind bool) {
	if m.Kind == register.Accept {
		s.lineage.Proposed(lineage.Key{Slot: m.Slot, Key: string(m.Key)}, m.Version, lineage.Origin{Base: m.Base, Blind: blind})
	}
}

// watch looks for versions that have become readable.
func (s *Sim) watch(n *node) {
	for _, at := range s.watched {
		v, sure := n.durableVersion(at)
		if !sure || v.IsZero() || s.lineage.Readable(at, v) {
			continue
		}
		epochs := s.epochs[at.Slot]
		for i := len(epochs) - 1; i >= 0 && epochs[i].number >= n.acceptors[at.Slot].Meta().Epoch; i-- {
			if s.holdQuorum(epochs[i], at, v) {
				if err := s.lineage.NowReadable(at, v); err != nil {
					s.violated("%v", err)
				}
				break
			}
		}
	}
}

// durableVersion returns the version of a key that a node holds for good, and whether it may be agreed on.
func (n *node) durableVersion(at lineage.Key) (v record.Version, sure bool) {
	im := &n.store.durable.slots[at.Slot]
	if rec, ok := im.records[at.Key]; ok {
		return rec.Version, true
	}
	return im.meta.Cleared, !im.meta.Unsure
}

// holdQuorum reports whether a quorum of an epoch's members holds exactly a version, and votes. What one holds for good that has been rebuilt
// a moment ago may still be a part of the copy, which it does not show: its last step, with which it votes again, is not there for good.
func (s *Sim) holdQuorum(e *epoch, at lineage.Key, v record.Version) bool {
	majority := func(members []uint16) bool {
		holders := 0
		for _, id := range members {
			n := s.nodes[id]
			held, sure := n.durableVersion(at)
			if sure && held == v && !n.lost && !n.damaged[at.Slot] && !n.store.durable.slots[at.Slot].meta.Rebuilding && n.acceptors[at.Slot].Meta().Epoch <= e.number {
				holders++
			}
		}
		return holders >= quorum.Majority(len(members))
	}
	return majority(e.members) && (!e.joint() || majority(e.next))
}

// stateOf returns what a version names, as requireOneState knows it.
func (s *Sim) stateOf(at lineage.Key, v record.Version) string {
	if state, ok := s.states[stateName{at.Slot, at.Key, v}]; ok {
		return state
	}
	return nothing
}
