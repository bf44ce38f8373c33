package quorum

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
)

// two reports whether two of three replicas say so.
func two(such func(i int) bool) bool {
	n := 0
	for i := range 3 {
		if such(i) {
			n++
		}
	}
	return n >= 2
}

func term(counter uint64) record.Ballot { return record.Ballot{Counter: counter} }

func live(name string, seq uint64) ShownKey {
	return ShownKey{Name: []byte(name), Version: record.Version{Ballot: term(1), Seq: seq}, Live: true}
}

func tombstone(name string, seq uint64) ShownKey {
	key := live(name, seq)
	key.Live = false
	return key
}

func listed(t *testing.T, shown ...*Shown) (names []string, ballot record.Ballot) {
	keys, ballot, ok := List(shown, two)
	require.True(t, ok)
	for _, key := range keys {
		names = append(names, string(key))
	}
	return names, ballot
}

// TestAListing has all keys that somebody of a majority holds, but for those that a majority has deleted.
func TestAListing(t *testing.T) {
	first := &Shown{Promised: term(3), Keys: []ShownKey{live("a", 1), tombstone("b", 4), tombstone("c", 5), live("e", 7)}}
	second := &Shown{Promised: term(3), Keys: []ShownKey{tombstone("b", 4), live("c", 2), tombstone("d", 6), tombstone("e", 8)}}
	names, ballot := listed(t, first, second, nil)
	require.Equal(t, []string{"a", "c", "d", "e"}, names)
	require.Equal(t, term(3), ballot)
	_, _, ok := List([]*Shown{first, nil, nil}, two)
	require.False(t, ok, "one is no majority")
}

// TestAListingIsFenced: it says of which terms it knows all, and goes by those who have promised that.
func TestAListingIsFenced(t *testing.T) {
	late := &Shown{Promised: term(2), Keys: []ShownKey{live("late", 1)}}
	names, ballot := listed(t, late, &Shown{Promised: term(5), Keys: []ShownKey{live("a", 1)}}, &Shown{Promised: term(4)})
	require.Equal(t, []string{"a"}, names)
	require.Equal(t, term(4), ballot)
	names, ballot = listed(t, late, &Shown{Promised: term(5)}, nil)
	require.Equal(t, []string{"late"}, names)
	require.Equal(t, term(2), ballot)
}

// TestAListingAgreesOnTheClear: of a key that a clear has removed at one replica nobody can tell.
func TestAListingAgreesOnTheClear(t *testing.T) {
	cleared, before := &Shown{Promised: term(2), Cleared: record.Version{Ballot: term(2), Seq: 1}}, &Shown{Promised: term(2)}
	_, _, ok := List([]*Shown{cleared, before, nil}, two)
	require.False(t, ok)
	names, _ := listed(t, cleared, before, &Shown{Promised: term(2), Keys: []ShownKey{live("k", 1)}})
	require.Equal(t, []string{"k"}, names)
	unsure := *before
	unsure.Unsure = true
	_, _, ok = List([]*Shown{&unsure, before, nil}, two)
	require.False(t, ok)
}
