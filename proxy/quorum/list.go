package quorum

import (
	"bytes"
	"slices"

	"github.com/quolldb/quoll/internal/record"
)

// Shown is what a replica of a slot holds of a database, or of a part of its keys, at one moment, and has durably.
type Shown struct {
	Promised record.Ballot
	Cleared  record.Version
	Unsure   bool // whether the clear was chosen nobody can tell (R18)
	Keys     []ShownKey
}

// ShownKey is a record that a replica holds, which may have expired, or a tombstone.
type ShownKey struct {
	Name    []byte
	Version record.Version
	Live    bool
}

// List returns the keys that there may be, given what replicas show, some of which may be nil, and the highest ballot that says until when (B10): no key but these has been written
// in a term below it, as far as that was chosen. most reports whether the replicas, by number, of which such says so are a quorum of the slot. It reports false if they have not
// promised one ballot, or do not agree on the clear: of a key without a record nobody can tell then.
func List(shown []*Shown, most func(such func(i int) bool) bool) (names [][]byte, ballot record.Ballot, ok bool) {
	for _, ballot := range promises(shown) {
		for _, one := range shown {
			if one == nil {
				continue
			}
			counts := func(i int) bool {
				s := shown[i]
				return s != nil && !s.Unsure && !s.Promised.Less(ballot) && s.Cleared == one.Cleared
			}
			if most(counts) {
				return namesOf(shown, counts, most), ballot, true
			}
		}
	}
	return nil, ballot, false
}

// promises returns what the replicas have promised, the highest first.
func promises(shown []*Shown) (all []record.Ballot) {
	for _, s := range shown {
		if s != nil {
			all = append(all, s.Promised)
		}
	}
	slices.SortFunc(all, func(a, b record.Ballot) int {
		switch {
		case b.Less(a):
			return -1
		case a.Less(b):
			return 1
		}
		return 0
	})
	return slices.Compact(all)
}

// heldKey is a key that one of the replicas holds.
type heldKey struct {
	ShownKey
	by int
}

// namesOf returns the keys that some replica of those that count holds, but for those of which a quorum of them holds the same tombstone.
func namesOf(shown []*Shown, counts func(i int) bool, most func(such func(i int) bool) bool) (names [][]byte) {
	var all []heldKey
	for i, s := range shown {
		if counts(i) {
			for _, key := range s.Keys {
				all = append(all, heldKey{key, i})
			}
		}
	}
	slices.SortStableFunc(all, func(a, b heldKey) int { return bytes.Compare(a.Name, b.Name) })
	for len(all) > 0 {
		n := 1
		for n < len(all) && bytes.Equal(all[n].Name, all[0].Name) {
			n++
		}
		if !deleted(all[:n], most) {
			names = append(names, all[0].Name)
		}
		all = all[n:]
	}
	return names
}

// deleted reports whether a quorum holds the same tombstone of a key.
func deleted(held []heldKey, most func(such func(i int) bool) bool) bool {
	return slices.ContainsFunc(held, func(one heldKey) bool {
		return !one.Live && most(func(i int) bool {
			return slices.ContainsFunc(held, func(k heldKey) bool { return k.by == i && k.Version == one.Version })
		})
	})
}
