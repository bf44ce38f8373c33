package register

import (
	"fmt"
	"maps"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/record"
)

// drawMember draws what a member holds of some keys: few versions, so that members agree and differ.
func drawMember(t *rapid.T, name string, keys int) *fakeStore {
	version := func(what string) record.Version { return earlier(rapid.Uint64Range(0, 4).Draw(t, name+" "+what)) }
	s := &fakeStore{records: map[string]record.Record{}}
	s.meta = record.SlotMeta{Epoch: 2, Floor: version("floor"), Promised: record.Ballot{Counter: rapid.Uint64Range(0, 3).Draw(t, name+" promised")}}
	if rapid.IntRange(0, 2).Draw(t, name+" is cleared") == 0 {
		s.meta.Cleared, s.meta.Unsure = version("clear"), rapid.Bool().Draw(t, name+" is unsure")
	}
	for k := range keys {
		if v := version(fmt.Sprint("key ", k)); s.meta.Cleared.Less(v) {
			s.records[fmt.Sprint(k)] = record.Record{Version: v, State: text(fmt.Sprint(v.Seq))}
		}
	}
	return s
}

// versionOf is what a member shows of a key, and whether that counts.
func (s *fakeStore) versionOf(key string) (record.Version, bool) {
	if rec, ok := s.records[key]; ok {
		return rec.Version, true
	}
	return s.meta.Cleared, !s.meta.Unsure
}

// agreedBy returns what more than half of so many members show.
func agreedBy(of int, shown []*fakeStore, version func(*fakeStore) (record.Version, bool)) (record.Version, bool) {
	for _, s := range shown {
		v, _ := version(s)
		n := 0
		for _, other := range shown {
			if w, sure := version(other); sure && w == v {
				n++
			}
		}
		if n > of/2 {
			return v, true
		}
	}
	return record.Version{}, false
}

// TestR18WhatBecomesOfAPage, as the rule says it, of whatever members hold: 3 to 5 old ones, of which a majority shows the page to one that joins or
// stays.
func TestR18WhatBecomesOfAPage(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		const keys = 4
		old := []uint16{1, 2, 3, 4, 5}[:rapid.IntRange(3, 5).Draw(t, "old")]
		self := rapid.SampledFrom([]uint16{1, 6}).Draw(t, "who collects")
		config := NewConfig(2, old, []uint16{6, 1, 2})
		members := map[uint16]*fakeStore{6: drawMember(t, "6", keys)}
		for _, id := range old {
			members[id] = drawMember(t, fmt.Sprint(id), keys)
		}
		page := NewPage(config, self)
		require.False(t, page.Show(6, record.SlotMeta{}), "it is none of the old members")
		var shown []*fakeStore
		for _, id := range rapid.Permutation(old).Draw(t, "who shows")[:rapid.IntRange(len(old)/2+1, len(old)).Draw(t, "how many")] {
			require.Equal(t, len(shown) > len(old)/2, page.Enough())
			require.True(t, page.Show(id, members[id].meta))
			for key, rec := range members[id].records {
				page.Record(id, []byte(key), rec.Version)
				require.True(t, page.Shows(id, Agreed{[]byte(key), rec.Version}))
			}
			shown = append(shown, &fakeStore{meta: members[id].meta, records: maps.Clone(members[id].records)}) // as of this moment
		}
		require.True(t, page.Enough())

		own := members[self]
		before := own.meta
		clearOf := func(s *fakeStore) (record.Version, bool) { return s.meta.Cleared, !s.meta.Unsure }
		cleared, sure := agreedBy(len(old), shown, clearOf)
		all := sure
		want := before
		for _, s := range shown {
			want.Floor = record.Max(want.Floor, record.Max(s.meta.Floor, s.meta.Cleared))
			want.Promised.Counter = max(want.Promised.Counter, s.meta.Promised.Counter)
			if !sure {
				cleared = record.Max(cleared, s.meta.Cleared)
			}
		}
		switch {
		case before.Cleared.Less(cleared):
			want.Cleared, want.Unsure = cleared, !sure
		case before.Cleared == cleared && sure:
			want.Unsure = false
		}
		acceptor, err := NewAcceptor(0, own, nil)
		require.NoError(t, err)
		var w Write
		if acceptor.TakeOver(page, &w); w.Wanted() {
			require.NoError(t, acceptor.Persisted(&w, w.To(own)))
		}
		require.Equal(t, want, own.meta)
		require.Equal(t, want, acceptor.Meta())
		for _, rec := range own.records {
			require.True(t, own.meta.Cleared.Less(rec.Version))
		}

		var copies, again []string
		for k := range keys {
			key := fmt.Sprint(k)
			v, agreed := agreedBy(len(old), shown, func(s *fakeStore) (record.Version, bool) { return s.versionOf(key) })
			here, _ := own.versionOf(key)
			_, present := own.records[key]
			known := slices.ContainsFunc(shown, func(s *fakeStore) bool { _, held := s.records[key]; return held })
			stays := self == 1 && present
			all = all && (agreed || !known)
			if stays {
				page.Key([]byte(key))
			}
			switch {
			case agreed && here.Less(v):
				copies = append(copies, fmt.Sprint(key, " ", v.Seq))
			case !agreed && (known || stays), stays && v.Less(here):
				again = append(again, key)
			}
		}
		require.True(t, !page.Clear() || all)
		gotCopies, gotAgain, err := page.Decide(&acceptor)
		require.NoError(t, err)
		var names []string
		for _, c := range gotCopies {
			names = append(names, fmt.Sprint(string(c.Key), " ", c.Version.Seq))
		}
		require.ElementsMatch(t, copies, names)
		names = nil
		for _, key := range gotAgain {
			names = append(names, string(key))
		}
		require.ElementsMatch(t, again, names)
	})
}

// TestR18ACopyIsOfTheAgreedVersion, past any promise, where nothing newer is.
func TestR18ACopyIsOfTheAgreedVersion(t *testing.T) {
	s := &fakeStore{records: map[string]record.Record{}, meta: record.SlotMeta{Promised: rival(3)}}
	a, err := NewAcceptor(0, s, nil)
	require.NoError(t, err)
	take := func(agreed, comes uint64) bool {
		var w Write
		taken, err := a.Copy(Agreed{[]byte("k"), earlier(agreed)}, record.Record{Version: earlier(comes), State: text(fmt.Sprint(comes))}, &w)
		require.NoError(t, err)
		if w.Wanted() {
			require.NoError(t, a.Persisted(&w, w.To(s)))
		}
		return taken
	}
	require.False(t, take(2, 3), "it is newer than what was agreed on")
	require.Empty(t, s.records)
	require.False(t, take(2, 1))
	require.True(t, take(2, 2))
	require.True(t, take(1, 1))
	require.Equal(t, "2", string(s.records["k"].State.Value), "the newer one remains")
	require.Equal(t, rival(3), s.meta.Promised)
	require.Equal(t, 1, s.writes)
	s.failed = fmt.Errorf("broken")
	_, err = a.Copy(Agreed{[]byte("k"), earlier(3)}, record.Record{Version: earlier(3)}, new(Write))
	require.Error(t, err)
}

// TestAPageThatSaysNothingNew costs no write.
func TestAPageThatSaysNothingNew(t *testing.T) {
	s := &fakeStore{records: map[string]record.Record{}}
	a, err := NewAcceptor(0, s, nil)
	require.NoError(t, err)
	page := NewPage(NewConfig(2, []uint16{1, 2, 3}, []uint16{4, 2, 3}), 4)
	for id := uint16(1); id <= 2; id++ {
		require.True(t, page.Show(id, record.SlotMeta{Epoch: 2}))
	}
	var w Write
	a.TakeOver(page, &w)
	require.False(t, w.Wanted())
	require.True(t, page.Clear())
	require.False(t, page.Shows(1, Agreed{Key: []byte("k")}))
}
