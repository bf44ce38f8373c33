package quorum

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/quolldb/quoll/internal/record"
)

func version(seq uint64) record.Version {
	return record.Version{Ballot: record.Ballot{Counter: 1, Incarnation: 1}, Seq: seq}
}

func TestTwoOfThreeAgree(t *testing.T) {
	v := Start(3, 2)
	require.Equal(t, Wait, v.AddValue(version(1)))
	require.Equal(t, Agreed, v.Add(version(1)))
}

func TestAbsentEverywhereIsAgreed(t *testing.T) {
	v := Start(3, 2)
	require.Equal(t, Wait, v.Add(record.Version{}))
	require.Equal(t, Agreed, v.AddValue(record.Version{}))
}

func TestDifferentVersionsGoToTheHome(t *testing.T) {
	v := Start(3, 2)
	v.AddValue(version(1))
	require.Equal(t, AskHome, v.Add(version(2)))
	v = Start(3, 2)
	v.AddValue(version(2))
	require.Equal(t, AskHome, v.Add(version(1)))
}

func TestTheHighestVersionMustBeTheAgreedOne(t *testing.T) {
	v := Start(3, 3)
	v.AddValue(version(1))
	v.Add(version(2))
	require.Equal(t, AskHome, v.Add(version(1)), "a majority at a lower version is no answer")
}

func TestExpiredStateGoesToTheHome(t *testing.T) {
	v := Start(3, 2)
	require.Equal(t, AskHome, v.Expire())
}

func TestFailureAsksOthers(t *testing.T) {
	v := Start(3, 2)
	v.AddValue(version(1))
	require.Equal(t, Failed, v.Fail())
	v = Start(5, 4)
	v.Add(version(1))
	require.Equal(t, Wait, v.Fail())
}

func TestOneReplica(t *testing.T) {
	v := Start(1, 1)
	require.Equal(t, Agreed, v.AddValue(version(7)))
}

// TestAgreedMeansAMajorityHoldsTheHighestVersionSeen states rule R10 directly.
func TestAgreedMeansAMajorityHoldsTheHighestVersionSeen(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		replicas := rapid.IntRange(1, 7).Draw(t, "replicas")
		asked := rapid.IntRange(Majority(replicas), replicas).Draw(t, "asked")
		valueFrom := rapid.IntRange(0, asked-1).Draw(t, "value from")
		v := Start(replicas, asked)
		seen := map[record.Version]int{}
		var highest, value record.Version
		valued := false
		for i := range asked {
			if rapid.IntRange(0, 9).Draw(t, "fails") == 0 {
				switch v.Fail() {
				case Agreed:
					t.Fatal("agreed by a failure")
				case Wait:
					continue
				}
				return
			}
			ver := version(rapid.Uint64Range(0, 2).Draw(t, "version"))
			seen[ver]++
			highest = record.Max(highest, ver)
			var d Decision
			if i == valueFrom {
				value, valued = ver, true
				d = v.AddValue(ver)
			} else {
				d = v.Add(ver)
			}
			if d != Wait {
				if d == Agreed && (!valued || value != highest || seen[highest] < Majority(replicas)) {
					t.Fatalf("agreed on %v: seen %v of %d", value, seen, replicas)
				}
				return
			}
		}
		t.Fatal("undecided with every vote in")
	})
}

func TestTheValueIsOfTheAgreedVersion(t *testing.T) {
	v := Start(3, 3)
	v.Add(version(2))
	v.Add(version(2))
	require.Equal(t, AskHome, v.AddValue(version(1)), "a value of another version than the one that was agreed on")
}

func TestMajoritiesMeet(t *testing.T) {
	for n := 1; n <= 9; n++ {
		require.Greater(t, 2*Majority(n), n, "two majorities of %d need not meet", n)
		require.LessOrEqual(t, Majority(n), n/2+1, "the smallest one is enough")
	}
}
