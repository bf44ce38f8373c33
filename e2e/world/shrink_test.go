package world

import (
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// TestShrinkFindsWhatAFailureNeeds has a failure that needs some parts of a plan, and no others: no more than these are left.
func TestShrinkFindsWhatAFailureNeeds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		cfg := Config{Seed: rapid.Uint64().Draw(t, "seed"), Schedule: "chaos"}
		whole := cfg.whole()
		some := func(of Set, least int) Set {
			s := Set(rapid.SliceOfNDistinct(rapid.SampledFrom(of), least, min(5, len(of)), rapid.ID[int]).Draw(t, "needed"))
			slices.Sort(s)
			return s
		}
		needed := Plan{
			Nodes: rapid.IntRange(3, whole.Nodes).Draw(t, "nodes"), Proxies: rapid.IntRange(1, whole.Proxies).Draw(t, "proxies"),
			Clients: some(whole.Clients, 1), Faults: some(whole.Faults, 0), Bouts: some(whole.Bouts, 0),
			For: time.Duration(rapid.IntRange(1, 40).Draw(t, "for")) * leastFor, Turns: rapid.IntRange(1, mostTurns).Draw(t, "turns"),
		}
		tries := 0
		small := shrink(whole, func(p Plan) bool { tries++; return covers(p, needed) })
		require.Equal(t, needed.String(), small.String())
		require.Less(t, tries, 600)
	})
}

// covers reports whether a plan has all that another one has.
func covers(p, needed Plan) bool {
	all := func(s, of Set) bool {
		return !slices.ContainsFunc(of, func(n int) bool { return !s.has(n) })
	}
	return p.Nodes >= needed.Nodes && p.Proxies >= needed.Proxies && p.For >= needed.For && p.Turns >= needed.Turns &&
		all(p.Clients, needed.Clients) && all(p.Faults, needed.Faults) && all(p.Bouts, needed.Bouts)
}

// TestShrinkEndsWithAFailure also if what fails follows no rule: what it ends with did fail, and is no larger.
func TestShrinkEndsWithAFailure(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole := Config{Seed: rapid.Uint64().Draw(t, "seed"), Schedule: "chaos"}.whole()
		random := randomOf(rapid.Uint64().Draw(t, "luck"))
		last := whole.String()
		small := shrink(whole, func(p Plan) bool {
			require.NotEmpty(t, p.Clients)
			require.GreaterOrEqual(t, p.Nodes, 3)
			require.True(t, covers(whole, p))
			fails := random.IntN(3) == 0
			if fails {
				last = p.String()
			}
			return fails
		})
		require.Equal(t, last, small.String())
	})
}

func TestPlansAreReadAsTheyAreWritten(t *testing.T) {
	set := rapid.Custom(func(t *rapid.T) Set {
		s := rapid.SliceOfDistinct(rapid.IntRange(1, 40), rapid.ID[int]).Draw(t, "set")
		slices.Sort(s)
		return s
	})
	rapid.Check(t, func(t *rapid.T) {
		p := Plan{
			Nodes: rapid.IntRange(0, 5).Draw(t, "nodes"), Proxies: rapid.IntRange(0, 2).Draw(t, "proxies"), Turns: rapid.IntRange(0, mostTurns).Draw(t, "turns"),
			Faults: set.Draw(t, "faults"), Bouts: set.Draw(t, "bouts"), For: time.Duration(rapid.Int64Range(0, int64(time.Minute)).Draw(t, "for")),
		}
		if clients := set.Draw(t, "clients"); len(clients) > 0 {
			p.Clients = clients
		}
		again, err := ParsePlan(p.String())
		require.NoError(t, err)
		require.Equal(t, p.String(), again.String())
	})
}

func TestWhatIsNoPlan(t *testing.T) {
	for text, says := range map[string]string{
		"nodes":               "invalid syntax",
		"nodes=x":             "invalid syntax",
		"knots=3":             "a plan has nodes",
		"faults=3-1":          `"3-1" is no set`,
		"faults=0":            `"0" is no set`,
		"bouts=1-99999999999": "is no set",
		"bouts=1,,2":          `"1,,2" is no set`,
		"clients=none":        "somebody has to look",
		"for=8":               "missing unit",
	} {
		_, err := ParsePlan(text)
		require.ErrorContains(t, err, says, text)
	}
	p, err := ParsePlan("faults=none bouts=1-3,7")
	require.NoError(t, err)
	require.Equal(t, Plan{Faults: Set{}, Bouts: Set{1, 2, 3, 7}}, p)
	require.Equal(t, "faults=none bouts=1-3,7", p.String())
}

// TestAPlanLeavesOut all but one power cut, and all that clients do.
func TestAPlanLeavesOut(t *testing.T) {
	w := one(t, Config{Seed: 1, Schedule: "powercuts", Plan: Plan{Nodes: 3, For: 6 * time.Second, Faults: Set{2}, Bouts: Set{}}})
	require.Equal(t, 3, strings.Count(w.Trace(), "without power")+strings.Count(w.Trace(), "is killed"))
	require.Zero(t, w.stats.Operations.Load())
}

func TestSymptoms(t *testing.T) {
	for out, want := range map[string]string{
		"seed 3 is wrong; history: 4 of 30 keys are not linearizable; the first": "not linearizable",
		"panic: deadlock": "panic: ",
		"seed 3 is wrong; " + ErrDiverged.Error() + " within 2m": ErrDiverged.Error(),
		"seed 3 is wrong; of a new way\nFAIL":                    "is wrong",
		"":                                                       "",
	} {
		require.Equal(t, want, symptomOf(out), strings.TrimSpace(out))
	}
}
