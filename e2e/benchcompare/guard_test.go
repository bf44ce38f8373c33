package main

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

var set, get = figure{"SET", 16}, figure{"GET", 16}

// TestStandingsAreMediansOfQuietRounds: what was measured beside others does not count, but its figure is known.
func TestStandingsAreMediansOfQuietRounds(t *testing.T) {
	pairs := []pair{
		{set, 1, 4, 0.1}, {get, 1, 2, 0.5}, {set, 3, 4, 0.2}, {set, 9, 1, 0.9}, {get, 1, 1, 0.26}, {set, 2, 4, 0},
	}
	require.Equal(t, []standing{{set, 0.5, 0.25, 0.75, 3}, {figure: get}}, standings(pairs, 0.25))
	require.Equal(t, []standing{{set, 0.625, 0.25, 9, 4}, {get, 0.75, 0.5, 1, 2}}, standings(pairs, 0.95))
	require.Empty(t, standings(nil, 1))
}

func TestRoundsAreThoseOfTheFigureWithFewest(t *testing.T) {
	require.Equal(t, 2, rounds([]standing{{figure: set, Rounds: 7}, {figure: get, Rounds: 2}}))
	require.Zero(t, rounds([]standing{{figure: set, Rounds: 7}, {figure: get}}))
	require.Zero(t, rounds(nil))
}

// TestAFallOfMoreThanATenthFails, and nothing else does.
func TestAFallOfMoreThanATenthFails(t *testing.T) {
	before := recording{Quoll: "quoll 7", Ratios: []standing{{figure: set, Median: 0.4}, {figure: get, Median: 0.8}}}
	for _, c := range []struct {
		set, get float64
		want     string
	}{
		{0.4, 0.8, ""}, {0.9, 1.7, ""}, {0.3601, 0.7201, ""},
		{0.3599, 0.8, "recorded of quoll 7: SET at depth 16 -10 %. "}, {0.4, 0.6, "GET at depth 16 -25 %. "},
		{0.2, 0.6, "SET at depth 16 -50 %, GET at depth 16 -25 %. "},
	} {
		err := judge(recording{Ratios: []standing{{figure: get, Median: c.get}, {figure: set, Median: c.set}}}, before)
		if c.want == "" {
			require.NoError(t, err, "%+v", c)
			continue
		}
		require.ErrorContains(t, err, c.want)
		require.ErrorContains(t, err, "make bench-guard RECORD=1")
	}
}

// TestWhatIsRecordedMustBeMeasured: a figure that is measured no more, or was recorded as nothing, is not one that stands well.
func TestWhatIsRecordedMustBeMeasured(t *testing.T) {
	now := recording{Ratios: []standing{{figure: set, Median: 0.4}}}
	require.ErrorContains(t, judge(now, recording{Ratios: []standing{{figure: get, Median: 0.8}}}), "GET at depth 16")
	require.ErrorContains(t, judge(now, recording{Ratios: []standing{{figure: set}}}), "SET at depth 16")
}

// TestRecordingsAreOfOneKindOfMachine: each kind has its own, and recording anew replaces that alone.
func TestRecordingsAreOfOneKindOfMachine(t *testing.T) {
	path := filepath.Join(t.TempDir(), "recorded.json")
	all, err := readRecordings(path)
	require.NoError(t, err)
	require.Empty(t, all)
	old := recording{Processor: "fast", Cores: 2, Redis: "v=7", Date: "yesterday", Ratios: []standing{{set, 0.5, 0.25, 0.75, 3}}}
	others := recordings{old}
	for _, change := range []func(*recording){func(r *recording) { r.Processor = "slow" }, func(r *recording) { r.Cores = 4 }, func(r *recording) { r.Redis = "v=8" }} {
		r := old
		change(&r)
		_, known := others.like(r)
		require.False(t, known, "%v", r)
		others = others.with(r)
	}
	now := old
	now.Date = "today"
	require.NoError(t, others.with(now).write(path))
	all, err = readRecordings(path)
	require.NoError(t, err)
	require.Len(t, all, 4)
	found, known := all.like(old)
	require.True(t, known)
	require.Equal(t, now, found)
}

func TestARecordingThatCannotBeReadIsAnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "recorded.json")
	for _, text := range []string{"", "{}", `[{"processors": "fast"}]`} {
		require.NoError(t, os.WriteFile(path, []byte(text), 0o600))
		_, err := readRecordings(path)
		require.ErrorContains(t, err, path)
	}
}

// TestTheRecordingInTheTreeHasWhatIsGuarded, so that it can be compared with.
func TestTheRecordingInTheTreeHasWhatIsGuarded(t *testing.T) {
	all, err := readRecordings("recorded.json")
	require.NoError(t, err)
	require.NotEmpty(t, all)
	var now []standing
	for _, g := range guarded {
		now = append(now, standing{figure: g.figure, Median: 1})
	}
	for _, r := range all {
		compared, err := changes(now, r.Ratios)
		require.NoError(t, err)
		require.Len(t, compared, len(guarded))
		require.GreaterOrEqual(t, rounds(r.Ratios), enough, "%v", r)
	}
}

func TestRedisIsNamedWithoutItsBuild(t *testing.T) {
	p := &plan{date: time.Unix(1e9, 0), systems: []system{{name: quollName, version: "quoll 7"}, {name: redisName, version: "Redis server v=7.0.15 sha=00000000:0 bits=64"}}}
	now := p.recordingOf(2)
	require.Equal(t, "Redis server v=7.0.15", now.Redis)
	require.Equal(t, "quoll 7", now.Quoll)
	require.Equal(t, "2001-09-09", now.Date)
}

// TestBusyTimeIsAllButIdle: fields are user, nice, system, idle, waiting for disks, interrupts, soft ones, stolen, guest, guest with nice.
func TestBusyTimeIsAllButIdle(t *testing.T) {
	spent, err := busyOf("cpu  1 20 300 4000 50000 600000 7000000 80000000 9 9\ncpu0 1 1 1 1 1 1 1 1 1 1\n")
	require.NoError(t, err)
	require.Equal(t, 87_600_321*time.Second/ticksPerSecond, spent)
	for _, wrong := range []string{"", "cpu 1 2", "intr 1 2 3 4 5 6 7 8 9", "cpu 1 2 x 4 5 6 7 8"} {
		_, err := busyOf(wrong)
		require.Error(t, err, fmt.Sprintf("%q", wrong))
	}
}
