package main

import (
	"fmt"
	"slices"
	"strconv"
	"time"
)

// look is how a system is drawn.
type look struct {
	colour string
	width  float64
}

// looks can be told apart by the colour-blind; ours is the thick one.
var looks = map[string]look{
	quollName: {"#d1495b", 3}, nodesName: {"#e07a8b", 3}, "redis": {"#1d2330", 1.6}, "wait": {"#0a7fa8", 1.6}, "nutcracker": {"#e8a33d", 1.6}, "cluster": {"#6aa36f", 1.6},
}

const (
	margin = 24.0
	top    = 124.0 // above the panels: title, notes, legend
	gapX   = 66.0  // between panels
	gapY   = 62.0
	panelW = 270.0
	panelH = 210.0
)

// panel is the place of one diagram.
type panel struct{ x, y axis }

// panelAt is the one in a column and row.
func panelAt(column, row int) panel {
	x := margin + 46 + float64(column)*(panelW+gapX)
	y := top + 16 + float64(row)*(panelH+gapY)
	return panel{axis{from: x, to: x + panelW}, axis{from: y + panelH, to: y}}
}

// frame draws the axes with their ticks.
func (s *svg) frame(p panel, head string, x []float64, xLabel func(float64) string, y []float64, yLabel func(float64) string) {
	s.text(p.x.from, p.y.to-8, "head", "start", head)
	for _, v := range y {
		s.line(p.x.from, p.y.at(v), p.x.to, p.y.at(v), "grid")
		s.text(p.x.from-6, p.y.at(v)+4, "", "end", yLabel(v))
	}
	for _, v := range x {
		s.line(p.x.at(v), p.y.from, p.x.at(v), p.y.from+4, "axis")
		s.text(p.x.at(v), p.y.from+18, "", "middle", xLabel(v))
	}
	s.line(p.x.from, p.y.from, p.x.to, p.y.from, "axis")
}

// legend names the systems that were measured, three in a row.
func (s *svg) legend(p *plan) {
	const perRow, width, length = 3, 222.0, 22.0
	for i, system := range p.systems {
		x, y := margin+width*float64(i%perRow), 86+18*float64(i/perRow)
		s.curve([][2]float64{{x + 4, y}, {x + 4 + length, y}}, looks[system.name])
		s.text(x+length+14, y+4, "", "start", system.label)
	}
}

// notes say what was measured, and where and when.
func (p *plan) notes() []string {
	return []string{
		fmt.Sprintf("%d connections, %d keys, values of %d B, medians of %s of %s; servers and generator share the cores", p.connections, p.keys, p.value,
			count(p.rounds, "round"), p.duration),
		p.machine + ", " + p.date.UTC().Format(time.DateOnly),
	}
}

// throughputPlot draws operations a second against depth, for writes and reads.
func (p *plan) throughputPlot(cells []cell) string {
	s := begin(2*margin+46+2*panelW+gapX, top+panelH+gapY+6, "Throughput against pipeline depth", p.notes()...)
	s.legend(p)
	depths := []float64{}
	for _, depth := range slices.Sorted(slices.Values(p.depths)) {
		depths = append(depths, float64(depth))
	}
	for column, op := range []string{"SET", "GET"} {
		most := 0.0
		for _, c := range cells {
			if c.Op == op {
				most = max(most, c.Throughput)
			}
		}
		ticks := even(most, 5)
		at := panelAt(column, 0)
		at.x.low, at.x.high, at.x.log = depths[0]*0.8, depths[len(depths)-1]*1.25, true
		at.y.low, at.y.high = 0, ticks[len(ticks)-1]
		s.frame(at, op+", operations a second", depths, number, ticks, rate)
		s.text((at.x.from+at.x.to)/2, at.y.from+36, "", "middle", "commands in a pipeline")
		for _, system := range p.inFront() {
			var points [][2]float64
			for _, depth := range depths {
				if c, ok := find(cells, system, op, int(depth)); ok {
					points = append(points, [2]float64{at.x.at(depth), at.y.at(c.Throughput)})
				}
			}
			s.drawn(points, looks[system])
		}
	}
	return s.end()
}

// latencyPlot draws the percentiles of latency, a panel for each operation and depth.
func (p *plan) latencyPlot(cells []cell) string {
	columns := float64(len(p.depths))
	s := begin(2*margin+46+columns*panelW+(columns-1)*gapX, top+2*(panelH+gapY), "Latency percentiles", p.notes()...)
	s.legend(p)
	least, most := 0.0, 0.0
	for _, c := range cells {
		if least == 0 || c.P50 < least {
			least = c.P50
		}
		most = max(most, c.P999)
	}
	ticks := decades(least, most)
	for row, op := range []string{"SET", "GET"} {
		for column, depth := range p.depths {
			at := panelAt(column, row)
			at.x.low, at.x.high = -0.3, 2.3
			at.y.low, at.y.high, at.y.log = ticks[0], ticks[len(ticks)-1], true
			s.frame(at, fmt.Sprintf("%s, depth %d", op, depth), []float64{0, 1, 2}, percentile, ticks, powerOfTen)
			for _, system := range p.inFront() {
				if c, ok := find(cells, system, op, depth); ok {
					var points [][2]float64
					for i, v := range []float64{c.P50, c.P99, c.P999} {
						points = append(points, [2]float64{at.x.at(float64(i)), at.y.at(v)})
					}
					s.drawn(points, looks[system])
				}
			}
		}
	}
	return s.end()
}

// inFront returns the systems with ours last, which is drawn over the others.
func (p *plan) inFront() []string {
	var names []string
	for i := len(p.systems) - 1; i >= 0; i-- {
		names = append(names, p.systems[i].name)
	}
	return names
}

// drawn draws a curve if there is something to draw.
func (s *svg) drawn(points [][2]float64, look look) {
	if len(points) > 0 {
		s.curve(points, look)
	}
}

func number(v float64) string { return strconv.Itoa(int(v)) }

func percentile(v float64) string { return [...]string{"p50", "p99", "p99.9"}[int(v)] }

// powerOfTen writes one of microseconds.
func powerOfTen(micros float64) string {
	switch {
	case micros >= 1e6:
		return fmt.Sprintf("%g s", micros/1e6)
	case micros >= 1e3:
		return fmt.Sprintf("%g ms", micros/1e3)
	}
	return fmt.Sprintf("%g µs", micros)
}

// rate writes operations per second on an axis.
func rate(v float64) string {
	switch {
	case v >= 1e6:
		return fmt.Sprintf("%gM", v/1e6)
	case v >= 1e3:
		return fmt.Sprintf("%gk", v/1e3)
	}
	return fmt.Sprintf("%g", v)
}
