package timeline

import (
	"bytes"
	"fmt"
	"io"
	"slices"
	"time"
)

// Write draws what was collected until now, as SVG. The same collection gives the same bytes. It may be called at any time and more
// than once. The error is w's.
func (t *Timeline) Write(w io.Writer) error {
	_, err := w.Write(t.picture().draw())
	return err
}

// picture is what is to be drawn.
type picture struct {
	title, summary string
	end            time.Duration // of the time axis
	columns        []column
	marks          []mark
}

// picture copies what there is, so that drawing holds nobody up.
func (t *Timeline) picture() *picture {
	t.mu.Lock()
	defer t.mu.Unlock()
	end := time.Duration(len(t.intervals)) * t.width
	for _, m := range t.marks {
		end = max(end, m.from+t.width, m.to)
	}
	end = max(end, t.width)
	p := &picture{title: t.title, end: end, columns: columns(t.intervals, t.width, end), summary: summarize(t.intervals, end)}
	p.marks = slices.Clone(t.marks)
	for i := range p.marks {
		if m := &p.marks[i]; !m.over {
			m.to = end
		}
	}
	slices.SortStableFunc(p.marks, func(a, b mark) int { return int(a.from - b.from) })
	return p
}

// summarize says the whole run in a line.
func summarize(intervals []interval, end time.Duration) string {
	var sum [outcomes]uint64
	var latency histogram
	for _, i := range intervals {
		for o, n := range i.count {
			sum[o] += n
		}
		if i.latency != nil {
			latency.merge(i.latency)
		}
	}
	text := fmt.Sprintf("%s: %s ok, %s refused, %s unknown", end.Round(time.Second/10), count(sum[OK]), count(sum[Refused]), count(sum[Unknown]))
	if sum[OK] == 0 {
		return text
	}
	return text + fmt.Sprintf("; p50 %s, p99 %s, slowest %s",
		latencyLabel(latency.percentile(0.5)), latencyLabel(latency.percentile(0.99)), latencyLabel(latency.percentile(1)))
}

// The picture's measures, in pixels.
const (
	pictureWidth  = 1200
	left, right   = 78, pictureWidth - 24
	rowsTop       = 76
	rateHeight    = 250
	latencyHeight = 190
	gap           = 44
	below         = 52
)

// draw writes the picture from the back to the front: grid, values, faults.
func (p *picture) draw() []byte {
	x := scale{high: p.end.Seconds(), from: left, to: right}
	tags, rows := place(p.marks, x)
	top := float64(rowsTop + rows*rowHeight + 22)
	rates := panel{top: top, bottom: top + rateHeight}
	latencies := panel{top: rates.bottom + gap, bottom: rates.bottom + gap + latencyHeight}

	s := &svg{}
	s.begin(pictureWidth, int(latencies.bottom)+below, p.title)
	s.text(left, 32, "title", "start", p.title)
	s.text(left, 54, "note", "start", p.summary)
	s.timeAxis(x, p.end, rates, latencies)
	s.rates(x, rates, p.columns)
	s.latencies(x, latencies, p.columns)
	for _, tag := range tags {
		s.band(tag, rates, latencies)
		s.tag(tag)
	}
	s.end()
	return s.out.Bytes()
}

// panel is one of the two diagrams: where it begins and ends, downwards.
type panel struct{ top, bottom float64 }

// svg is the file as it grows.
type svg struct{ out bytes.Buffer }
