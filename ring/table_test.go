package ring

import (
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

func TestATableSaysWhatItWasTold(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		ids := rapid.SliceOfNDistinct(rapid.Uint16Range(1, 20), 1, MaxReplicas, rapid.ID[uint16])
		version := rapid.Uint64Range(1, 1<<40).Draw(t, "version")
		common := Assignment{Epoch: rapid.Uint64Range(1, version).Draw(t, "epoch"), Replicas: ids.Draw(t, "replicas")}
		slots := slices.Repeat([]Assignment{common}, Slots)
		for range rapid.IntRange(0, 20).Draw(t, "others") {
			a := Assignment{Epoch: rapid.Uint64Range(1, version).Draw(t, "epoch"), Replicas: ids.Draw(t, "replicas")}
			if rapid.Bool().Draw(t, "joint") {
				a.Next = ids.Draw(t, "next")
			}
			slots[rapid.IntRange(0, Slots-1).Draw(t, "slot")] = a
		}
		table, err := NewTable(version, slots)
		require.NoError(t, err)
		joint := 0
		homes, replicas := map[uint16]int{}, map[uint16]int{}
		for number, a := range slots { // without require: there are many
			got := table.Assignment(uint16(number))
			members := table.Members(uint16(number))
			if got.Epoch != a.Epoch || !slices.Equal(got.Replicas, a.Replicas) || !slices.Equal(got.Next, a.Next) || (got.Next == nil) != (a.Next == nil) {
				t.Fatalf("slot %d: %+v, want %+v", number, got, a)
			}
			if !slices.Equal(members[:len(a.Replicas)], a.Replicas) {
				t.Fatalf("slot %d: members %v, replicas %v", number, members, a.Replicas)
			}
			for id := range uint16(21) {
				held := slices.Contains(a.Replicas, id) || slices.Contains(a.Next, id)
				if table.Contains(uint16(number), id) != held || slices.Contains(members, id) != held {
					t.Fatalf("slot %d: member %d, want %t", number, id, held)
				}
			}
			if a.Next != nil {
				joint++
			}
			homes[a.Replicas[0]]++
			for _, id := range a.Replicas {
				replicas[id]++
			}
		}
		require.Equal(t, joint, table.Joint())
		for id := range uint16(21) {
			require.Equal(t, homes[id], table.HomeSlots(id))
			require.Equal(t, replicas[id], table.ReplicaSlots(id))
		}
	})
}

func TestTablesDifferInTheirDigests(t *testing.T) {
	digest := func(change func(a *Assignment)) uint64 {
		slots := slices.Repeat([]Assignment{{Epoch: 1, Replicas: []uint16{1, 2, 3}}}, Slots)
		change(&slots[7])
		table, err := NewTable(5, slots)
		require.NoError(t, err)
		return table.Digest()
	}
	digests := []uint64{
		digest(func(*Assignment) {}),
		digest(func(a *Assignment) { a.Epoch = 2 }),
		digest(func(a *Assignment) { a.Replicas = []uint16{2, 1, 3} }),
		digest(func(a *Assignment) { a.Replicas = []uint16{1, 2} }),
		digest(func(a *Assignment) { a.Next = []uint16{1, 2, 3} }),
		digest(func(a *Assignment) { a.Next = []uint16{1, 2, 4} }),
	}
	slices.Sort(digests)
	require.Len(t, slices.Compact(digests), 6)
	require.Equal(t, digest(func(*Assignment) {}), digest(func(a *Assignment) { a.Replicas = slices.Clone(a.Replicas) }))
}

func TestImpossibleAssignments(t *testing.T) {
	_, err := NewTable(1, nil)
	require.ErrorIs(t, err, ErrInvalid)
	for want, a := range map[string]Assignment{
		"epoch 0 in version 5":            {Replicas: []uint16{1}},
		"epoch 6 in version 5":            {Epoch: 6, Replicas: []uint16{1}},
		"has 0 replicas":                  {Epoch: 1},
		"has 8 replicas":                  {Epoch: 1, Replicas: []uint16{1, 2, 3, 4, 5, 6, 7, 8}},
		"impossible replicas: [1 1]":      {Epoch: 1, Replicas: []uint16{1, 1}},
		"impossible replicas: [1 0]":      {Epoch: 1, Replicas: []uint16{1}, Next: []uint16{1, 0}},
		"has 0 replicas, want 1 to 7":     {Epoch: 1, Replicas: []uint16{1}, Next: []uint16{}},
		"slot 7 has impossible replicas:": {Epoch: 1, Replicas: []uint16{3, 3}},
	} {
		slots := slices.Repeat([]Assignment{{Epoch: 1, Replicas: []uint16{1, 2, 3}}}, Slots)
		slots[7] = a
		_, err := NewTable(5, slots)
		require.ErrorIs(t, err, ErrInvalid)
		require.ErrorContains(t, err, want)
	}
}

// TestSpare: how many more may fail of each of the two majorities that a joint slot needs.
func TestSpare(t *testing.T) {
	slots := make([]Assignment, Slots)
	for i := range slots {
		slots[i] = Assignment{Epoch: 1, Replicas: []uint16{1, 2, 3}}
	}
	slots[7].Next = []uint16{3, 4, 5, 6, 7}
	table, err := NewTable(1, slots)
	require.NoError(t, err)
	among := func(ids ...uint16) func(uint16) bool { return func(id uint16) bool { return slices.Contains(ids, id) } }
	require.Equal(t, 1, table.Spare(0, among(1, 2, 3)))
	require.Equal(t, 0, table.Spare(0, among(1, 3, 4)))
	require.Equal(t, -2, table.Spare(0, among(4)))
	require.Equal(t, 1, table.Spare(7, among(1, 2, 3, 4, 5, 6, 7)))
	require.Equal(t, 0, table.Spare(7, among(1, 2, 4, 5, 6)))
	require.Equal(t, -1, table.Spare(7, among(1, 2, 3, 4)))
	require.Equal(t, -1, table.Spare(7, among(1, 4, 5, 6, 7)))
}
