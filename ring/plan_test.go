package ring

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

var sweep = flag.Bool("sweep", false, "measure balance and movement for all sizes from 3 to 100 (with -v)")

func plan(t require.TestingT, c Cluster) *Table {
	table, err := Plan(c)
	require.NoError(t, err)
	return table
}

func TestPlanRefusesAnInvalidCluster(t *testing.T) {
	_, err := Plan(testCluster(2, 3, 0))
	require.ErrorIs(t, err, ErrInvalid)
}

// The tables of all versions of Quoll and all processors must be the same. If this
// test fails, a rolling upgrade would mix two tables of one epoch.
func TestPlanIsStable(t *testing.T) {
	needsAllSlots(t)
	require.Equal(t, uint64(0x1869f85dce973192), plan(t, testCluster(3, 3, 0)).Digest())
	c := testCluster(20, 3, 4)
	for i := range c.Members {
		c.Members[i].Weight = 1 + i%3
	}
	require.Equal(t, uint64(0x667eb1d22646952), plan(t, c).Digest())
}

// A plan is dear under the race detector, so fewer cases than rapid's 100 unless
// the command line says otherwise (-rapid.checks).
func TestMain(m *testing.M) {
	if err := flag.Set("rapid.checks", "10"); err != nil {
		panic(err)
	}
	os.Exit(m.Run())
}

// drawCluster makes a small cluster with any racks and weights.
func drawCluster(t *rapid.T) Cluster {
	n := rapid.IntRange(1, 12).Draw(t, "members")
	c := testCluster(n, rapid.IntRange(1, min(n, MaxReplicas)).Draw(t, "replicas"), 0)
	for i := range c.Members {
		c.Members[i].Rack = fmt.Sprintf("r%d", rapid.IntRange(0, 4).Draw(t, "rack"))
		c.Members[i].Weight = rapid.IntRange(1, 4).Draw(t, "weight")
	}
	return c
}

func TestPlanProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCluster(t)
		table := plan(t, c)
		checkReplicas(t, c, table)
		checkRacks(t, c, table)
		checkShares(t, c, table)

		shuffled := c
		shuffled.Members = rapid.Permutation(c.Members).Draw(t, "order")
		require.Equal(t, table.Digest(), plan(t, shuffled).Digest())
	})
}

func checkReplicas(t require.TestingT, c Cluster, table *Table) {
	homes, replicas := make(map[uint16]int), make(map[uint16]int)
	require.Len(t, table.Replicas(0), c.Replicas)
	for slot := range uint16(Slots) {
		ids := table.Replicas(slot)
		for i, id := range ids {
			if slices.Contains(ids[:i], id) {
				require.Failf(t, "a member twice", "slot %d: %v", slot, ids)
			}
		}
		homes[ids[0]]++
		for _, id := range ids {
			replicas[id]++
		}
	}
	for _, m := range c.Members {
		require.Equal(t, homes[m.ID], table.HomeSlots(m.ID))
		require.Equal(t, replicas[m.ID], table.ReplicaSlots(m.ID))
		delete(replicas, m.ID)
	}
	require.Empty(t, replicas, "IDs that no member has")
}

// checkShares verifies that every member is within the tolerance of its fair
// share, which weights and racks may make any.
func checkShares(t require.TestingT, c Cluster, table *Table) {
	members := c.sorted()
	layout := newLayout(members, c.Replicas)
	replica, home := layout.shares(members)
	replicaBounds, homeBounds := newBalancer(replica, tolerance), newBalancer(home, tolerance)
	for i, m := range members {
		require.GreaterOrEqual(t, table.ReplicaSlots(m.ID), replicaBounds.low[i])
		require.LessOrEqual(t, table.ReplicaSlots(m.ID), replicaBounds.high[i])
		require.GreaterOrEqual(t, table.HomeSlots(m.ID), homeBounds.low[i])
		require.LessOrEqual(t, table.HomeSlots(m.ID), homeBounds.high[i])
	}
}

// checkRacks verifies that no rack has two replicas more of a slot than another
// rack that has a member to spare.
func checkRacks(t require.TestingT, c Cluster, table *Table) {
	size, rackOf := make(map[string]int), make(map[uint16]string)
	for _, m := range c.Members {
		size[m.Rack]++
		rackOf[m.ID] = m.Rack
	}
	for slot := uint16(0); slot < Slots; slot += 7 {
		count := make(map[string]int, len(size))
		for _, id := range table.Replicas(slot) {
			count[rackOf[id]]++
		}
		for a := range count {
			for b, members := range size {
				if count[a] > count[b]+1 && count[b] < members {
					require.Failf(t, "uneven racks", "slot %d: %v of %v", slot, count, size)
				}
			}
		}
	}
}

// figures are relative to the fair share: of replicas and homes per member, and of
// what moves when a member is removed (or added: the same two tables).
type figures struct {
	minReplicas, maxReplicas, minHomes, maxHomes float64
	// moved is the mean, maxMoved the maximum over the members removed; beyond is how
	// much more than the removed member's own replicas moved, at most.
	moved, maxMoved, beyond, movedHomes float64
}

func (f figures) String() string {
	return fmt.Sprintf("replicas %.3f-%.3f homes %.3f-%.3f, moved mean %.3f max %.3f beyond own %.3f, homes moved %.3f",
		f.minReplicas, f.maxReplicas, f.minHomes, f.maxHomes, f.moved, f.maxMoved, f.beyond, f.movedHomes)
}

func measureBalance(c Cluster, table *Table) figures {
	f := figures{minReplicas: math.Inf(1), minHomes: math.Inf(1)}
	home := Slots / float64(len(c.Members))
	for _, m := range c.Members {
		r := float64(table.ReplicaSlots(m.ID)) / home / float64(c.Replicas)
		h := float64(table.HomeSlots(m.ID)) / home
		f.minReplicas, f.maxReplicas = min(f.minReplicas, r), max(f.maxReplicas, r)
		f.minHomes, f.maxHomes = min(f.minHomes, h), max(f.maxHomes, h)
	}
	return f
}

// measure removes the given number of members in turn, one at a time.
func measure(t require.TestingT, c Cluster, removals int) figures {
	table := plan(t, c)
	f := measureBalance(c, table)
	share := Slots * float64(c.Replicas) / float64(len(c.Members))
	random := rand.New(rand.NewPCG(uint64(len(c.Members)), 1))
	for _, i := range random.Perm(len(c.Members))[:removals] {
		moved, homes := difference(table, plan(t, without(c, i)))
		f.moved += float64(moved) / share / float64(removals)
		f.maxMoved = max(f.maxMoved, float64(moved)/share)
		f.beyond = max(f.beyond, float64(moved-table.ReplicaSlots(c.Members[i].ID))/share)
		f.movedHomes += float64(homes) / share * float64(c.Replicas) / float64(removals)
	}
	return f
}

// difference counts the replicas of a that are not in b, and the homes that differ.
func difference(a, b *Table) (replicas, homes int) {
	for slot := range uint16(Slots) {
		for _, id := range a.Replicas(slot) {
			if !b.Contains(slot, id) {
				replicas++
			}
		}
		if a.Replicas(slot)[0] != b.Replicas(slot)[0] {
			homes++
		}
	}
	return replicas, homes
}

// What moves may be 5 % more than the share that the member has; the share itself
// is within 5 % of the fair one. On average the two together are within 5 %.
func TestBalanceAndMovement(t *testing.T) {
	needsAllSlots(t)
	for _, c := range []Cluster{
		testCluster(4, 3, 0), testCluster(5, 3, 0), testCluster(8, 3, 0), testCluster(16, 3, 0), testCluster(33, 3, 0), testCluster(100, 3, 0),
		testCluster(9, 3, 3), testCluster(30, 3, 3), testCluster(99, 3, 3), testCluster(40, 3, 10),
		testCluster(8, 3, 2), testCluster(20, 3, 2), testCluster(16, 2, 4), testCluster(24, 5, 0),
	} {
		f := measure(t, c, 2)
		racks := len(newLayout(c.Members, c.Replicas).size)
		t.Logf("%d members, %d replicas, %d racks: %v", len(c.Members), c.Replicas, racks, f)
		requireBalance(t, f)
		require.LessOrEqual(t, f.beyond, 0.05)
	}
	three := testCluster(3, 3, 0)
	requireBalance(t, measureBalance(three, plan(t, three)))
}

// With more replicas than racks, racks that become unequal get shares that
// rendezvous alone would not give them: some more moves.
func TestMovementWithMoreReplicasThanRacks(t *testing.T) {
	needsAllSlots(t)
	f := measure(t, testCluster(12, 5, 3), 2)
	t.Log(f)
	requireBalance(t, f)
	require.LessOrEqual(t, f.beyond, 0.2)
}

func requireBalance(t *testing.T, f figures) {
	require.GreaterOrEqual(t, f.minReplicas, 0.95)
	require.LessOrEqual(t, f.maxReplicas, 1.05)
	require.GreaterOrEqual(t, f.minHomes, 0.95)
	require.LessOrEqual(t, f.maxHomes, 1.05)
}

// TestSweep prints the figures for all sizes: go test ./ring -run Sweep -sweep -v
func TestSweep(t *testing.T) {
	if !*sweep {
		t.Skip("measures for minutes: run with -sweep -v")
	}
	for n := 3; n <= 100; n++ {
		for _, racks := range []int{0, 3, 10} {
			if racks > 0 && n%racks != 0 {
				continue
			}
			f := measure(t, testCluster(n, 3, racks), min(n, 10)*min(1, n-3))
			t.Logf("%d members, %d racks: %v", n, racks, f)
			requireBalance(t, f)
		}
	}
}

func TestWeights(t *testing.T) {
	needsAllSlots(t)
	c := testCluster(10, 3, 0)
	for i := range 5 {
		c.Members[i].Weight = 2
	}
	table := plan(t, c)
	for i, m := range c.Members {
		share := Slots / 15.0
		if i < 5 {
			share *= 2
		}
		require.InEpsilon(t, 3*share, table.ReplicaSlots(m.ID), 0.051, m.Name)
		require.InEpsilon(t, share, table.HomeSlots(m.ID), 0.051, m.Name)
	}
}

// A member that must hold everything leaves the others equal shares of the rest.
func TestWeightsBeyondWhatIsPossible(t *testing.T) {
	c := testCluster(4, 3, 0)
	c.Members[0].Weight = 1000
	table := plan(t, c)
	require.InEpsilon(t, Slots, table.ReplicaSlots(1), 0.051)
	for id := uint16(2); id <= 4; id++ {
		require.InEpsilon(t, Slots*2/3.0, table.ReplicaSlots(id), 0.051)
	}
}

func TestUnequalRacks(t *testing.T) {
	c := testCluster(6, 3, 0)
	for i, rack := range []string{"a", "b", "c", "c", "c", "c"} {
		c.Members[i].Rack = rack
	}
	table := plan(t, c)
	checkRacks(t, c, table)
	require.Equal(t, Slots, table.ReplicaSlots(1))
	require.Equal(t, Slots, table.ReplicaSlots(2))
	for id := uint16(3); id <= 6; id++ {
		require.InEpsilon(t, Slots/4.0, table.ReplicaSlots(id), 0.051)
	}
	for id := uint16(1); id <= 6; id++ {
		require.InEpsilon(t, Slots/6.0, table.HomeSlots(id), 0.051)
	}
}

func TestTableAccess(t *testing.T) {
	c := testCluster(5, 3, 0)
	c.Epoch = 7
	table := plan(t, c)
	require.EqualValues(t, 7, table.Version())
	require.EqualValues(t, 7, table.Epoch(3))
	require.Nil(t, table.Next(3))
	ids := table.Replicas(Slots - 1)
	require.True(t, table.Contains(Slots-1, ids[2]))
	require.False(t, table.Contains(Slots-1, 99))
	require.Zero(t, table.HomeSlots(99))
	require.Zero(t, testing.AllocsPerRun(100, func() { table.Replicas(5); table.Contains(5, 1) }))
	require.Equal(t, 3, cap(ids), "appending must not overwrite the next slot")

	c.Epoch = 8
	require.NotEqual(t, table.Digest(), plan(t, c).Digest())
}

func BenchmarkPlan(b *testing.B) {
	for _, n := range []int{3, 100, 1000} {
		c := testCluster(n, 3, 0)
		b.Run(fmt.Sprint(n), func(b *testing.B) {
			for b.Loop() {
				plan(b, c)
			}
		})
	}
}
