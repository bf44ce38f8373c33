package clock

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

const hour = int64(time.Hour / time.Millisecond)

func TestCommon(t *testing.T) {
	for name, tc := range map[string]struct {
		system int64 // at mono 5000, when the clock that was 1,000,000 at mono 0 shows 1,005,000
		others []int64
		size   int
		now    int64
		wrong  time.Duration
	}{
		"alone":                     {system: 1_005_000 + hour, size: 1, now: 1_005_000 + hour},
		"all agree":                 {system: 1_005_010, others: []int64{1_005_000, 1_005_100}, size: 3, now: 1_005_010},
		"ahead":                     {system: 1_005_000 + hour, others: []int64{1_005_000, 1_005_100}, size: 3, now: 1_005_000, wrong: time.Hour},
		"behind":                    {system: 1_005_000 - hour, others: []int64{1_005_000, 1_005_100}, size: 3, now: 1_005_000, wrong: -time.Hour},
		"all have jumped":           {system: 1_005_000 + hour, others: []int64{1_005_000 + hour, 1_005_100 + hour}, size: 3, now: 1_005_000 + hour},
		"another one is wrong":      {system: 1_005_000, others: []int64{1_005_000 + hour, 1_005_100}, size: 3, now: 1_005_000},
		"two of three, one jumped":  {system: 1_005_000 + hour, others: []int64{1_005_000}, size: 3, now: 1_005_000},
		"two of three, other wrong": {system: 1_005_000, others: []int64{1_005_000 - hour}, size: 3, now: 1_005_000},
		"two of two, one jumped":    {system: 1_005_000 - hour, others: []int64{1_005_000}, size: 2, now: 1_005_000},
		"all differ":                {system: 1_005_000 + hour, others: []int64{1_005_000, 1_005_000 - hour}, size: 3, now: 1_005_000},
		"nobody is heard":           {system: 1_005_010, size: 3, now: 1_005_010},
		"nobody is heard and jumps": {system: 1_005_000 + hour, size: 3, now: 1_005_000},
	} {
		t.Run(name, func(t *testing.T) {
			var c Common
			c.Start(0, 1_000_000)
			require.Equal(t, tc.wrong, c.Look(5000, tc.system, tc.others, tc.size))
			require.Equal(t, tc.now, c.Now(5000))
			require.Equal(t, tc.now+7, c.Now(5007), "it advances")
		})
	}
}

// TestAMinorityOfClocksDoesNoHarm: as long as most clocks are right, so is everybody's.
func TestAMinorityOfClocksDoesNoHarm(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		size := rapid.SampledFrom([]int{1, 3, 5, 7}).Draw(t, "size")
		right := rapid.Int64Range(0, hour).Draw(t, "time")
		clocks := make([]int64, size)
		for i := range clocks {
			clocks[i] = right + rapid.Int64Range(-400, 400).Draw(t, "skew")
			if i < (size-1)/2 {
				clocks[i] += rapid.Int64Range(-hour, hour).Draw(t, "wrong")
			}
		}
		for i, system := range clocks {
			var c Common
			c.Start(0, 0)
			others := append(append([]int64{}, clocks[:i]...), clocks[i+1:]...)
			c.Look(0, system, others, size)
			require.InDelta(t, right, c.Now(0), 1400)
		}
	})
}

func TestWhoIsWrong(t *testing.T) {
	for name, c := range map[string]struct {
		system int64
		group  []int64
		wrong  time.Duration
		known  bool
	}{
		"nobody is heard":  {5000, nil, 0, false},
		"one, who agrees":  {5000, []int64{5500}, 0, true},
		"one, who differs": {5000, []int64{7000}, -2 * time.Second, true},
		"two who differ":   {5000, []int64{5000, 9000}, 0, false},
		"a wrong one":      {5000, []int64{9000, 5100, 5200}, 0, true},
		"most differ":      {5000, []int64{5000, 9000, 9100}, -4 * time.Second, true},
	} {
		wrong, known := Differs(c.system, c.group)
		require.Equal(t, c.known, known, name)
		require.Equal(t, c.wrong, wrong, name)
	}
}
