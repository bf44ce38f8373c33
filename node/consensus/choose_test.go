package consensus

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// candidates makes live ones with the IDs 1, 2, ... in these racks.
func inRacks(racks ...string) []Candidate {
	all := make([]Candidate, len(racks))
	for i, rack := range racks {
		all[i] = Candidate{ID: uint64(i + 1), Name: "n" + string(rune('1'+i)), Rack: rack, Alive: true}
	}
	return all
}

func dead(all []Candidate, ids ...uint64) []Candidate {
	for i := range all {
		all[i].Alive = all[i].Alive && !slices.Contains(ids, all[i].ID)
	}
	return all
}

func TestChoose(t *testing.T) {
	for _, c := range []struct {
		name       string
		voters     []uint64
		candidates []Candidate
		want       []uint64
	}{
		{"nobody", nil, nil, nil},
		{"one", nil, inRacks(""), []uint64{1}},
		{"both of two", nil, inRacks("", ""), []uint64{1, 2}},
		{"three of four", nil, inRacks("", "", "", ""), []uint64{1, 2, 3}},
		{"five of seven", nil, inRacks("", "", "", "", "", "", ""), []uint64{1, 2, 3, 4, 5}},
		{"one a rack", nil, inRacks("a", "a", "b", "c"), []uint64{1, 3, 4}},
		{"those that vote stay", []uint64{2, 3, 4}, inRacks("", "", "", ""), []uint64{2, 3, 4}},
		{"those that vote stay in their rack", []uint64{2, 3, 4}, inRacks("a", "a", "b", "c"), []uint64{2, 3, 4}},
		{"but give way to a rack of its own", []uint64{1, 2, 3}, inRacks("a", "a", "b", "c"), []uint64{1, 3, 4}},
		{"a dead one is replaced", []uint64{1, 2, 3}, dead(inRacks("", "", "", ""), 2), []uint64{1, 3, 4}},
		{"a dead one is replaced also where its rack is lost", []uint64{1, 2, 3}, dead(inRacks("a", "b", "c", "a"), 2), []uint64{1, 3, 4}},
		{"a dead one stays if there is nobody else", []uint64{1, 2, 3}, dead(inRacks("", "", ""), 2), []uint64{1, 2, 3}},
		{"a dead one does not become one", []uint64{1, 2}, dead(inRacks("", "", ""), 3), []uint64{1, 2}},
		{"one that has left the ring goes", []uint64{1, 2, 9}, inRacks("", "", ""), []uint64{1, 2, 3}},
		{"more voters when there are more members", []uint64{1, 2, 3}, inRacks("", "", "", "", ""), []uint64{1, 2, 3, 4, 5}},
		{"fewer when there are fewer", []uint64{1, 2, 3, 4, 5}, inRacks("", "", "", ""), []uint64{1, 2, 3}},
	} {
		t.Run(c.name, func(t *testing.T) { require.Equal(t, c.want, Choose(c.voters, c.candidates)) })
	}
}

func TestChooseProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		all := make([]Candidate, rapid.IntRange(1, 12).Draw(t, "members"))
		var voters []uint64
		for i := range all {
			all[i] = Candidate{ID: uint64(i + 1), Rack: rapid.SampledFrom([]string{"a", "b", "c", "d"}).Draw(t, "rack"), Alive: rapid.Float64Range(0, 1).Draw(t, "alive") < 0.8}
			if rapid.Bool().Draw(t, "votes") && len(voters) < MaxVoters {
				voters = append(voters, all[i].ID)
			}
		}
		chosen := Choose(voters, all)
		require.LessOrEqual(t, len(chosen), size(len(all)))
		require.Equal(t, chosen, Choose(chosen, all), "it would change again")
		require.Equal(t, chosen, Choose(voters, rapid.Permutation(all).Draw(t, "order")), "the order counts")
		inRack, aliveIn := map[string]int{}, map[string]int{}
		eligible := 0
		for _, c := range all {
			votes, is := slices.Contains(voters, c.ID), slices.Contains(chosen, c.ID)
			if c.Alive {
				aliveIn[c.Rack]++
			}
			if c.Alive || votes {
				eligible++
			}
			require.False(t, is && !c.Alive && !votes, "a dead one became a voter")
			if is {
				inRack[c.Rack]++
			}
		}
		require.Len(t, chosen, min(eligible, size(len(all))))
		for rack, n := range inRack {
			for other, alive := range aliveIn {
				require.False(t, n > 1 && inRack[other] == 0 && alive > 0, "rack %s has %d, rack %s none", rack, n, other)
			}
		}
	})
}
