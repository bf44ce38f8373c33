package ring

import (
	"flag"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var (
	sequences    = flag.Int("replan.sequences", 0, "how many random sequences of changes TestReplan makes; 0: a few")
	sequenceSeed = flag.Uint64("replan.seed", 0, "the seed of the first of them; 0: another one each time")
)

// TestReplan makes random sequences of changes and checks each: every slot has its
// replicas, on as many racks as there can be; shares are within bounds; and what
// moves is at most 1.05 times the least possible. All 1,000 sequences: make replan.
func TestReplan(t *testing.T) {
	count, seed := *sequences, *sequenceSeed
	if count == 0 {
		count = 3
	}
	if seed == 0 {
		seed = uint64(time.Now().UnixNano()) % 1_000_000_000
	}
	var worst, moved, least, homes, changes float64
	for i := range count {
		s := newSequence(seed+uint64(i), *sequences == 0)
		for step := range 6 {
			what := s.change()
			f := s.replan(t)
			requireLittle(t, f, fmt.Sprintf("step %d,%s, %d members: %+v; go test ./ring -v -run TestReplan$ -replan.sequences 1 -replan.seed %d", step, what, len(s.c.Members), f, seed+uint64(i)))
			if f.least > 0 {
				worst = max(worst, float64(f.moved)/float64(f.least))
			}
			moved, least, homes, changes = moved+float64(f.moved), least+float64(f.least), homes+float64(f.homes), changes+1
			if *sequences > 0 && *sequences < 10 {
				t.Logf("%d members, %s: %+v", len(s.c.Members), what, f)
			}
		}
		if done := i + 1; done%50 == 0 {
			t.Logf("%d of %d sequences", done, count)
		}
	}
	t.Logf("seeds %d to %d: moved in all %.4f of the minimum, at most %.3f; %.0f homes to each 1,000 moved", seed, seed+uint64(count)-1, moved/least, worst, 1000*homes/moved)
}

// sequence is a cluster that changes.
type sequence struct {
	random  *rand.Rand
	c       Cluster
	present [][]uint16
	nextID  uint16
	racks   int
}

func newSequence(seed uint64, small bool) *sequence {
	s := &sequence{random: rand.New(rand.NewPCG(seed, 19)), nextID: 1, c: Cluster{Name: "c", Epoch: 1}}
	most := math.Log(900)
	if small {
		most = math.Log(100)
	}
	n := int(math.Exp(math.Log(3) + s.random.Float64()*(most-math.Log(3))))
	s.c.Replicas = min(n, 1+s.random.IntN(5), 7)
	if s.random.IntN(2) == 0 {
		s.c.Replicas = min(n, 3)
	}
	if s.random.IntN(3) > 0 {
		s.racks = 1 + s.random.IntN(12)
	}
	weighted := s.random.IntN(3) == 0
	for range n {
		s.join(weighted)
	}
	table, err := Plan(s.c)
	if err != nil {
		panic(err)
	}
	for slot := range uint16(Slots) {
		s.present = append(s.present, slices.Clone(table.Replicas(slot)))
	}
	return s
}

func (s *sequence) join(weighted bool) {
	m := Member{ID: s.nextID, Name: fmt.Sprintf("n%d", s.nextID), Peer: fmt.Sprintf("h:%d", s.nextID), Weight: 4}
	if s.racks > 0 {
		m.Rack = fmt.Sprintf("r%d", s.random.IntN(s.racks))
	}
	if weighted {
		m.Weight = 1 + s.random.IntN(8)
	}
	s.nextID++
	s.c.Members = append(slices.Clone(s.c.Members), m)
}

func (s *sequence) leave() {
	s.c.Members = slices.Delete(slices.Clone(s.c.Members), 0, 1)
	s.random.Shuffle(len(s.c.Members), func(i, j int) { s.c.Members[i], s.c.Members[j] = s.c.Members[j], s.c.Members[i] })
}

// change makes one to three changes at once, and says which.
func (s *sequence) change() string {
	what := ""
	s.c.Members = slices.Clone(s.c.Members)
	s.random.Shuffle(len(s.c.Members), func(i, j int) { s.c.Members[i], s.c.Members[j] = s.c.Members[j], s.c.Members[i] })
	for range 1 + s.random.IntN(3)*s.random.IntN(2) {
		n := len(s.c.Members)
		switch kind := s.random.IntN(8); {
		case kind <= 1 && n < 1000:
			for range 1 + s.random.IntN(max(1, n/5)) {
				if len(s.c.Members) < MaxMembers {
					s.join(kind == 1)
				}
			}
			what += fmt.Sprintf(" %d join", len(s.c.Members)-n)
		case kind <= 3 && n > s.c.Replicas:
			for range 1 + s.random.IntN(max(1, (n-s.c.Replicas)/5)) {
				s.leave()
			}
			what += fmt.Sprintf(" %d leave", n-len(s.c.Members))
		case kind == 4:
			gone := s.c.Members[0].ID
			s.join(false)
			m := s.c.Members[n]
			s.leave()
			for _, ids := range s.present {
				if i := slices.Index(ids, gone); i >= 0 {
					ids[i] = m.ID
				}
			}
			what += " replace"
		case kind == 5:
			s.c.Members[0].Weight = 1 + s.random.IntN(12)
			what += fmt.Sprintf(" weight %d", s.c.Members[0].Weight)
		case kind == 6 && s.racks > 0:
			s.c.Members[0].Rack = fmt.Sprintf("r%d", s.random.IntN(s.racks))
			what += " rack"
		case kind == 7 && s.random.IntN(3) == 0:
			s.c.Replicas = min(n, 1+s.random.IntN(5))
			what += fmt.Sprintf(" replicas %d", s.c.Replicas)
		}
	}
	return what
}

// moves is what a Replan did: replicas that slots gained, the least that they had to
// gain, and homes that changed.
type moves struct{ moved, least, homes int }

func (s *sequence) replan(t *testing.T) moves {
	target, err := Replan(s.present, s.c)
	require.NoError(t, err)
	table := tableOf(s.c, target)
	checkReplicas(t, s.c, table)
	checkRacks(t, s.c, table)
	members := s.c.sorted()
	l := newLayout(members, s.c.Replicas)
	replica, home := l.shares(members)
	bounds := newBounds(replica, tolerance)
	for i, m := range members {
		share := float64(table.ReplicaSlots(m.ID))
		require.LessOrEqual(t, share, max(1.1*replica[i], math.Ceil(replica[i])), m.Name)
		require.GreaterOrEqual(t, share, min(0.9*replica[i], math.Floor(replica[i])), m.Name)
		require.LessOrEqual(t, float64(table.HomeSlots(m.ID)), max(1.1*home[i], math.Ceil(home[i])), m.Name)
	}
	var f moves
	for slot, ids := range target {
		for _, id := range ids {
			if !slices.Contains(s.present[slot], id) {
				f.moved++
			}
		}
		if ids[0] != s.present[slot][0] {
			f.homes++
		}
	}
	f.least = leastMoves(s.present, target, f.moved, members, l, bounds)
	s.present = target
	return f
}

func requireLittle(t *testing.T, f moves, message string) {
	require.LessOrEqual(t, float64(f.moved), 1.05*float64(f.least), message)
}

func tableOf(c Cluster, target [][]uint16) *Table {
	return newTable(c.Epoch, c.Replicas, slices.Concat(target...))
}

func BenchmarkReplan(b *testing.B) {
	for _, n := range []int{3, 100, 999} {
		present := presentOf(plan(b, testCluster(n, 3, 0)))
		racks := presentOf(plan(b, testCluster(n, 3, 10)))
		five := testCluster(max(n, 5), 5, 0)
		fewer := testCluster(n, 3, 0)
		if n > 3 {
			fewer.Members = fewer.Members[n/3:]
		}
		for _, bench := range []struct {
			name    string
			present [][]uint16
			c       Cluster
		}{{"join", present, testCluster(n+1, 3, 0)}, {"a third leave", present, fewer}, {"five replicas", present, five}, {"other racks", racks, testCluster(n, 3, 7)}} {
			b.Run(fmt.Sprintf("%d, %s", n, bench.name), func(b *testing.B) {
				for b.Loop() {
					_, err := Replan(bench.present, bench.c)
					require.NoError(b, err)
				}
			})
		}
	}
}

func presentOf(table *Table) [][]uint16 {
	var present [][]uint16
	for slot := range uint16(Slots) {
		present = append(present, slices.Clone(table.Replicas(slot)))
	}
	return present
}
