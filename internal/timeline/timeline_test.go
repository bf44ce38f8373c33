package timeline

import (
	"bytes"
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"
)

// written returns the picture, which has to be well-formed and the same each time.
func written(t require.TestingT, tl *Timeline) string {
	var first, second bytes.Buffer
	require.NoError(t, tl.Write(&first))
	require.NoError(t, tl.Write(&second))
	require.Equal(t, first.String(), second.String())
	for d := xml.NewDecoder(bytes.NewReader(first.Bytes())); ; {
		_, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		require.NoError(t, err)
	}
	require.NotContains(t, first.String(), "NaN")
	require.NotContains(t, first.String(), "Inf")
	return first.String()
}

// example is a run of two minutes with faults, of which some overlap.
func example() *Timeline {
	random := rand.New(rand.NewPCG(1, 2))
	tl := New("docker cluster, 3 nodes, seed 42")
	begin := time.Now()
	down := func(at time.Duration) bool { return at > 70*time.Second && at < 78*time.Second }
	faults := []struct {
		label    string
		from, to time.Duration
	}{
		{"kill -9 node b", 10 * time.Second, 24 * time.Second},
		{"node c paused", 35 * time.Second, 45 * time.Second},
		{"20 ms of delay a → b", 38 * time.Second, 60 * time.Second},
		{"no majority: a & b killed", 70 * time.Second, 78 * time.Second},
		{"disk of c full", 75 * time.Second, 90 * time.Second},
		{"clock of a +1h", 110 * time.Second, 119 * time.Second},
	}
	var stops []func()
	for at := time.Duration(0); at < 2*time.Minute; at += 2 * time.Millisecond {
		time.Sleep(time.Until(begin.Add(at)))
		for i, f := range faults {
			if at == f.from {
				stops = append(stops, tl.Mark(f.label))
			}
			if at == f.to {
				stops[i]()
			}
		}
		latency := time.Duration(math.Exp(random.NormFloat64()*0.6) * float64(700*time.Microsecond))
		if at > 38*time.Second && at < 60*time.Second {
			latency += 20 * time.Millisecond
		}
		outcome := OK
		switch {
		case down(at):
			outcome = Refused
		case (at > 10*time.Second && at < 11*time.Second || at > 35*time.Second && at < 36*time.Second) && random.IntN(4) == 0:
			outcome = Unknown
		}
		tl.Add(time.Now(), latency, outcome)
	}
	return tl
}

func TestPictureOfARun(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		svg := written(t, example())
		for _, text := range []string{"kill -9 node b", "no majority: a &amp; b killed", "operations per second", "p99", "10 ms", ">1m30s<"} {
			require.True(t, strings.Contains(svg, text), text)
		}
		if dir := os.Getenv("TIMELINE_PICTURE"); dir != "" { // to look at it
			require.NoError(t, os.WriteFile(filepath.Join(dir, "timeline.svg"), []byte(svg), 0o600))
		}
	})
}

func TestPictureOfAnything(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		tl := New(rapid.String().Draw(t, "title"))
		for range rapid.IntRange(0, 20).Draw(t, "operations") {
			end := tl.start.Add(time.Duration(rapid.Int64Range(-1e9, math.MaxInt64/2).Draw(t, "end")))
			tl.Add(end, time.Duration(rapid.Int64().Draw(t, "latency")), Outcome(rapid.IntRange(0, 2).Draw(t, "outcome")))
		}
		for range rapid.IntRange(0, 20).Draw(t, "marks") {
			if stop := tl.Mark(rapid.String().Draw(t, "label")); rapid.Bool().Draw(t, "stopped") {
				stop()
			}
		}
		written(t, tl)
		require.LessOrEqual(t, len(tl.intervals), maxIntervals)
	})
}

// TestLabelsAreText: whatever a label says, it is shown and adds nothing to the picture.
func TestLabelsAreText(t *testing.T) {
	tl := New(`</title><script>alert("1")</script>`)
	tl.Mark("<b>&\x00\xff")()
	svg := written(t, tl)
	require.NotContains(t, svg, "<script")
	require.Contains(t, svg, "&lt;b&gt;&amp;\uFFFD\uFFFD")
}

// TestPercentileIsThatOfTheOperations, within the width of a bucket.
func TestPercentileIsThatOfTheOperations(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		micros := rapid.SliceOfN(rapid.Int64Range(0, int64(longest)), 1, 200).Draw(t, "micros")
		q := rapid.Float64Range(0, 1).Draw(t, "q")
		tl := New("")
		for _, m := range micros {
			tl.Add(tl.start.Add(50*time.Millisecond), time.Duration(m)*time.Microsecond, OK)
			tl.Add(tl.start.Add(50*time.Millisecond), time.Hour, Refused)
			tl.Add(tl.start.Add(250*time.Millisecond), time.Hour, OK)
		}
		slices.Sort(micros)
		want := time.Duration(micros[max(1, int(math.Ceil(q*float64(len(micros)))))-1]) * time.Microsecond
		got := tl.Percentile(tl.start, tl.start.Add(200*time.Millisecond), q)
		require.InDelta(t, float64(want), float64(got), 0.04*float64(want))
	})
}

func TestPercentileOfNothing(t *testing.T) {
	tl := New("")
	tl.Add(tl.start, time.Second, Unknown)
	require.Zero(t, tl.Percentile(tl.start, tl.start.Add(time.Hour), 0.99))
}

// TestLongRunIsBoundedAndComplete: nothing that was counted is lost when intervals become coarser.
func TestLongRunIsBoundedAndComplete(t *testing.T) {
	tl := New("")
	const operations = 100_000
	for i := range operations {
		tl.Add(tl.start.Add(time.Duration(i)*time.Second), time.Millisecond, Outcome(i%3))
	}
	require.LessOrEqual(t, len(tl.intervals), maxIntervals)
	var sum [outcomes]uint64
	for _, i := range tl.intervals {
		for o, n := range i.count {
			sum[o] += n
		}
	}
	require.Equal(t, [outcomes]uint64{33_334, 33_333, 33_333}, sum)
	require.InDelta(t, float64(time.Millisecond), float64(tl.Percentile(tl.start, tl.start.Add(1000*time.Hour), 1)), 0.04e6)
}

// TestTagsDoNotOverlap: in one row no bar or label meets another one's.
func TestTagsDoNotOverlap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var marks []mark
		for range rapid.IntRange(1, 30).Draw(t, "marks") {
			from := rapid.IntRange(0, 99).Draw(t, "from")
			to := rapid.IntRange(from, 100).Draw(t, "to")
			label := strings.Repeat("x", rapid.IntRange(0, 200).Draw(t, "label"))
			marks = append(marks, mark{label: label, from: time.Duration(from) * time.Second, to: time.Duration(to) * time.Second})
		}
		tags, rows := place(marks, scale{high: 100, from: left, to: right})
		require.LessOrEqual(t, rows, maxRows)
		for i, a := range tags {
			end := func(g tag) float64 { return max(g.x1, g.text+charWidth*float64(len([]rune(g.label)))) }
			require.GreaterOrEqual(t, min(a.x0, a.text), float64(left))
			require.LessOrEqual(t, end(a), float64(right)+minBar)
			for _, b := range tags[:i] {
				if a.row == b.row && a.row >= 0 {
					require.True(t, end(a) <= min(b.x0, b.text) || end(b) <= min(a.x0, a.text), "%+v %+v", a, b)
				}
			}
		}
	})
}

func TestConcurrentUse(t *testing.T) {
	tl := New("")
	var wait sync.WaitGroup
	for i := range 4 {
		wait.Go(func() {
			defer tl.Mark(fmt.Sprint(i))()
			for range 1000 {
				tl.Add(time.Now(), time.Millisecond, OK)
			}
			_ = tl.Write(io.Discard)
		})
	}
	wait.Wait()
	require.Contains(t, written(t, tl), "4,000 ok")
}
