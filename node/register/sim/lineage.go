package sim

import (
	"slices"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/proxy/quorum"
)

// lineage knows what every version was built on, and which ones clients could have read (R10). Of any two of
// these the later one has to be built on the earlier. Clients rarely read in the moment that would show it,
// so Porcupine sees little of what this sees.
type lineage struct {
	origins  map[keyName]map[record.Version]origin
	readable map[keyName][]record.Version
	purged   map[keyName]record.Version // the highest tombstone that was removed
	cleared  [slots]record.Version      // the highest clear of a slot
}

type keyName struct {
	slot uint16
	key  string
}

// origin is what a write was built on; a blind one on nothing.
type origin struct {
	base  record.Version
	blind bool
}

func newLineage() lineage {
	return lineage{origins: map[keyName]map[record.Version]origin{}, readable: map[keyName][]record.Version{}, purged: map[keyName]record.Version{}}
}

// proposed is told of every message of a home. A version counts when it is sent first.
func (l *lineage) proposed(m *register.Message, blind bool) {
	at := keyName{m.Slot, string(m.Key)}
	if l.origins[at] == nil {
		l.origins[at] = map[record.Version]origin{}
	}
	if _, known := l.origins[at][m.Version]; m.Kind == register.Accept && !known {
		l.origins[at][m.Version] = origin{m.Base, blind}
	}
}

func (l *lineage) deleted(slot uint16, key string, v record.Version) {
	at := keyName{slot, key}
	l.purged[at] = record.Max(l.purged[at], v)
}

// watch looks for versions that have become readable.
func (s *Sim) watch(n *node) {
	for _, key := range keys {
		at := keyName{key.slot, key.name}
		v := n.durableVersion(at)
		if v.IsZero() || slices.Contains(s.lineage.readable[at], v) {
			continue
		}
		for i := len(s.epochs) - 1; i >= 0 && s.epochs[i].number >= n.acceptors[at.slot].Meta().Epoch; i-- {
			if s.holdQuorum(s.epochs[i], at, v) {
				s.nowReadable(at, v)
				break
			}
		}
	}
}

// durableVersion returns the version of a key that a node holds for good.
func (n *node) durableVersion(at keyName) record.Version {
	im := &n.store.durable.slots[at.slot]
	if rec, ok := im.records[at.key]; ok {
		return rec.Version
	}
	return im.meta.Cleared
}

// holdQuorum reports whether a quorum of an epoch's members holds exactly a version, and votes. What one holds for good that has been rebuilt
// a moment ago may still be a part of the copy, which it does not show: its last step, with which it votes again, is not there for good.
func (s *Sim) holdQuorum(e epoch, at keyName, v record.Version) bool {
	majority := func(members []uint16) bool {
		holders := 0
		for _, id := range members {
			n := s.nodes[id]
			if !n.lost && !n.damaged[at.slot] && !n.store.durable.slots[at.slot].meta.Rebuilding && n.acceptors[at.slot].Meta().Epoch <= e.number && n.durableVersion(at) == v {
				holders++
			}
		}
		return holders >= quorum.Majority(len(members))
	}
	return majority(e.members) && (!e.joint() || majority(e.next))
}

// nowReadable compares a version that has become readable with those that were before.
func (s *Sim) nowReadable(at keyName, v record.Version) {
	l := &s.lineage
	if _, written := l.origins[at][v]; !written && !l.purged[at].Less(v) {
		return // what a purge has left
	}
	for _, other := range l.readable[at] {
		low, high := other, v
		if v.Less(other) {
			low, high = v, other
		}
		if s.contradicts(at, low, high) {
			s.violated("slot %d, key %s: %v and %v could be read, and the later one is not built on the other", at.slot, at.key, low, high)
		}
	}
	l.readable[at] = append(l.readable[at], v)
}

// contradicts reports whether high was built on what knew nothing of low, and a client could tell.
func (s *Sim) contradicts(at keyName, low, high record.Version) bool {
	l := &s.lineage
	v := high
	for low.Less(v) {
		o, written := l.origins[at][v]
		if !written || o.blind { // a clear, or a write that overwrites anything
			return false
		}
		v = o.base
	}
	if v == low {
		return false
	}
	if _, written := l.origins[at][v]; !written && !record.Max(l.purged[at], l.cleared[at.slot]).Less(low) {
		return false // built on what a purge or a clear has left of it
	}
	return s.stateOf(at, v) != s.stateOf(at, low)
}

// stateOf returns what a version names, as requireOneState knows it.
func (s *Sim) stateOf(at keyName, v record.Version) string {
	if state, ok := s.states[stateName{at.slot, at.key, v}]; ok {
		return state
	}
	return nothing
}
