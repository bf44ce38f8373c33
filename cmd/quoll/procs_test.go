package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

// TestThreadsFollowTheCoresThatThereAre: what a process is left with, second by second, on two cores and on eight.
func TestThreadsFollowTheCoresThatThereAre(t *testing.T) {
	type second struct {
		own, idle float64
		want      int
	}
	for what, c := range map[string]struct {
		most    int
		seconds []second
	}{
		"alone, at rest":                    {2, []second{{0, 2, 2}, {0, 2, 2}, {0, 2, 2}}},
		"alone, busy":                       {2, []second{{1.9, 0.1, 2}, {2, 0, 2}, {2, 0, 2}, {2, 0, 2}}},
		"one of five that are busy":         {2, []second{{0.4, 0.05, 2}, {0.4, 0.05, 1}, {0.45, 0, 1}, {0.5, 0.1, 1}, {0.5, 0.3, 1}}},
		"a moment is not enough":            {2, []second{{0.4, 0.05, 2}, {0.4, 0.3, 2}, {0.4, 0.05, 2}, {0.4, 0.05, 1}, {0.4, 1, 1}, {0.4, 0, 1}, {0.4, 1, 1}}},
		"the others have ended":             {2, []second{{0.4, 0, 2}, {0.4, 0, 1}, {0.4, 1.5, 1}, {0.4, 1.5, 2}}},
		"one is not enough":                 {2, []second{{0.4, 0, 2}, {0.4, 0, 1}, {0.95, 0, 2}, {1.9, 0, 2}}},
		"it is one of two, and uses a half": {2, []second{{1, 0, 2}, {1, 0, 2}, {1, 0, 2}}},
		"eight cores":                       {8, []second{{1, 0.5, 8}, {1, 0.5, 2}, {1.9, 0.5, 4}, {2, 0.5, 4}, {3.9, 0.5, 8}, {1, 0.9, 8}, {1, 2, 8}}},
		"nothing to do on a full machine":   {2, []second{{0, 0, 2}, {0, 0, 1}}},
	} {
		p := processors{most: c.most, now: c.most}
		for i, s := range c.seconds {
			require.Equal(t, s.want, p.look(s.own, s.idle), "%s, second %d", what, i)
		}
	}
}
