package datatype

import (
	"cmp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// scoresOf returns the scores of a sorted set, which is checked to be in order.
func scoresOf(t *testing.T, st record.State) map[string]float64 {
	require.True(t, validZset(st.Packed().Value))
	all := map[string]float64{}
	for s := range zsetIn(st).from(0) {
		all[string(s.member)] = s.score
	}
	return all
}

// FuzzApplyScores compares changes of a sorted set with the same changes of a map.
func FuzzApplyScores(f *testing.F) {
	three := zsetOf("1", "a", "2.5", "b", "3", "").Value
	for _, delta := range []string{"\x00\x02a\x01\x06", "\x00\x03a", "\x00\x03c", "\x00\x02c\x00\x03c", "\x00\x03a\x03b", "", "\x00", "\x01\x00\x02", "\x01\x02\x01", "\x01\x00\x03",
		"\x01\x03\x01", "\x01\x01", "\x02", "\x00\xff\xff\xff\xff\xff\xff\xff\xff\xff\x01", "\x00\x02a\x08\x00\x00\x00\x00\x00\x00\xf8\x7f"} {
		f.Add(three, []byte(delta))
	}
	f.Fuzz(func(t *testing.T, value, body []byte) {
		if !validZset(value) {
			value = three
		}
		before := string(value)
		st := record.State{Type: record.SortedSet, Value: value}
		next, err := Apply(st, append([]byte{deltaScores}, body...))
		require.Equal(t, before, string(value))
		if err != nil {
			require.ErrorIs(t, err, ErrDelta)
			require.Equal(t, record.State{}, next)
			return
		}
		want := scoresOf(t, st)
		if body[0] == ranksRemoved {
			placed := membersByRank(want)
			from := int(body[1]) // numbers of one byte: more members do not come out of a fuzzer
			for _, member := range placed[from : from+int(body[2])] {
				delete(want, member)
			}
		} else {
			var e scoreEdit
			require.True(t, e.decode(zset{}, body[1:]))
			for _, c := range e.list {
				if c.remove {
					delete(want, string(c.member))
				} else {
					want[string(c.member)] = c.score
				}
			}
		}
		require.Equal(t, want, scoresOf(t, next))
	})
}

func membersByRank(scores map[string]float64) []string {
	var members []string
	for member := range scores {
		members = append(members, member)
	}
	slices.SortFunc(members, func(a, b string) int {
		return cmp.Or(cmp.Compare(scores[a], scores[b]), strings.Compare(a, b))
	})
	return members
}

// FuzzZset: what is taken for a sorted set is one, in every respect.
func FuzzZset(f *testing.F) {
	f.Add(zsetOf("1", "a", "2.5", "b", "inf", "", "-7", "c").Value)
	f.Add(zsetOf("0", strings.Repeat("m", 200)).Value)
	f.Fuzz(func(t *testing.T, value []byte) {
		if !validZset(value) {
			for range zsetIn(record.State{Value: value}).from(0) { // what is damaged ends it
			}
			return
		}
		st := record.State{Type: record.SortedSet, Value: value}
		scores := scoresOf(t, st)
		var pairs []string
		rank := 0
		for s := range zsetIn(st).from(0) {
			at := zsetIn(st).locate(s.member)
			require.True(t, at.found)
			require.Equal(t, rank, at.rank)
			require.Equal(t, s, zsetIn(st).at(rank))
			pairs = append(pairs, string(resp.FormatDouble(nil, s.score)), string(s.member))
			rank++
		}
		require.Len(t, scores, rank)
		slices.Reverse(pairs)
		for i := 0; i < len(pairs); i += 2 {
			pairs[i], pairs[i+1] = pairs[i+1], pairs[i]
		}
		require.Equal(t, string(value), string(zsetOf(pairs...).Packed().Value), "the same members make the same bytes")
	})
}
