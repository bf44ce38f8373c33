package timeline

import (
	"fmt"
	"strings"
	"time"
)

// band shades a fault's time in both panels; pointing at it shows its label.
func (s *svg) band(t tag, panels ...panel) {
	s.printf("<g><title>%s (%s to %s)</title>\n", escape(t.label), timeLabel(t.from), timeLabel(t.to))
	for _, p := range panels {
		s.rect(t.x0, p.top, t.x1, p.bottom, "band")
	}
	s.printf("</g>\n")
}

// tag draws a fault's bar and label above the panels.
func (s *svg) tag(t tag) {
	if t.row < 0 {
		return
	}
	y := float64(rowsTop + t.row*rowHeight)
	s.rect(t.x0, y, t.x1, y+rowHeight-3, "bar")
	s.text(t.text, y+rowHeight-6, "tag", "start", t.label)
}

// timeAxis draws the grid of times through both panels, and their labels below.
func (s *svg) timeAxis(x scale, end time.Duration, panels ...panel) {
	bottom := panels[len(panels)-1].bottom
	for _, at := range timeTicks(end) {
		for _, p := range panels {
			s.line(x.at(at.Seconds()), p.top, x.at(at.Seconds()), p.bottom, "grid")
		}
		s.text(x.at(at.Seconds()), bottom+18, "tick", "middle", timeLabel(at))
	}
	s.text((x.from+x.to)/2, bottom+40, "note", "middle", "time since the start")
}

// frame draws what both panels have: heading, grid of values with labels, axes.
func (s *svg) frame(p panel, heading string, y scale, ticks []float64, label func(float64) string) {
	s.text(left, p.top-8, "head", "start", heading)
	for _, v := range ticks {
		s.line(left, y.at(v), right, y.at(v), "grid")
		s.text(left-8, y.at(v)+4, "tick", "end", label(v))
	}
	s.line(left, p.bottom, right, p.bottom, "axis")
	s.line(left, p.top, left, p.bottom, "axis")
}

// rates draws operations per second, stacked: what succeeded at the bottom.
func (s *svg) rates(x scale, p panel, columns []column) {
	most := 0.0
	for _, c := range columns {
		most = max(most, c.rate[OK]+c.rate[Refused]+c.rate[Unknown])
	}
	ticks := evenTicks(max(most*1.04, 1), 5)
	y := scale{high: ticks[len(ticks)-1], from: p.bottom, to: p.top}
	s.frame(p, "operations per second", y, ticks, rateLabel)
	var d [outcomes]strings.Builder
	for _, c := range columns {
		sum := 0.0
		for o, rate := range c.rate {
			if rate > 0 {
				x0, x1, y0 := x.at(c.from.Seconds()), x.at(c.to.Seconds()), y.at(sum)
				y1 := min(y.at(sum+rate), y0-1) // even one operation is seen
				fmt.Fprintf(&d[o], "M%.1f %.1fV%.1fH%.1fV%.1fZ", x0, y0, y1, x1, y0)
			}
			sum += rate
		}
	}
	for o, class := range []string{"ok", "refused", "unknown"} {
		s.path(d[o].String(), class)
	}
	s.legend(p, "ok", "ok", "refused", "refused", "unknown", "unknown")
}

// latencies draws percentiles on a logarithmic scale, with gaps where nothing succeeded.
func (s *svg) latencies(x scale, p panel, columns []column) {
	ticks := decades(columns)
	y := scale{low: ticks[0], high: ticks[len(ticks)-1], from: p.bottom, to: p.top, log: true}
	s.frame(p, "latency of operations that succeeded", y, ticks, func(v float64) string {
		return latencyLabel(time.Duration(v * 1e9).Round(time.Microsecond))
	})
	s.path(steps(x, y, columns, func(c column) time.Duration { return c.p99 }), "p99")
	s.path(steps(x, y, columns, func(c column) time.Duration { return c.p50 }), "p50")
	s.legend(p, "dot50", "p50", "dot99", "p99")
}

// steps is a path along one value of each column.
func steps(x, y scale, columns []column, value func(column) time.Duration) string {
	var d strings.Builder
	pen := "M"
	for _, c := range columns {
		if c.p99 == 0 {
			pen = "M"
			continue
		}
		v := y.at(max(value(c).Seconds(), y.low))
		fmt.Fprintf(&d, "%s%.1f %.1fH%.1f", pen, x.at(c.from.Seconds()), v, x.at(c.to.Seconds()))
		pen = "L"
	}
	return d.String()
}

// legend names what is drawn at the right of a panel's heading: pairs of class and name.
func (s *svg) legend(p panel, pairs ...string) {
	at := float64(right)
	for i := len(pairs) - 2; i >= 0; i -= 2 {
		at -= charWidth*float64(len(pairs[i+1])) + 6
		s.text(at, p.top-8, "tick", "start", pairs[i+1])
		at -= 16
		s.rect(at, p.top-17, at+10, p.top-7, pairs[i])
		at -= 8
	}
}
