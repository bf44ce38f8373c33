package main

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// writeScale writes what the sweeps found into the directory for results, and the tables to standard output.
func (p *plan) writeScale(points []point) error {
	page, plots := p.scalePage(points), map[string]string{"scale.svg": p.scalePlot(points)}
	if err := p.writeFiles("scale.md", page, "scale.json", points, plots); err != nil {
		return err
	}
	return p.writePage("bench-scale", page, plots)
}

// scalePage has a table for each sweep.
func (p *plan) scalePage(points []point) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s: %s.\n", p.date.UTC().Format(time.DateOnly), p.machine)
	fmt.Fprintf(&b, "Where nothing else is said: three nodes and a proxy, %d connections, %d keys of 16 B, values of %d B; one measurement of %s each. "+
		"Servers and generator share the cores.\n\nAgain: `%s`\n", p.connections, p.keys, p.value, p.duration, p.cmd)
	for _, sw := range sweeps {
		fmt.Fprintf(&b, "\n### By %s\n\n| | |", sw.title)
		for _, depth := range sw.depths {
			fmt.Fprintf(&b, " SET, depth %d | p99.9 | GET, depth %d | p99.9 |", depth, depth)
		}
		fmt.Fprintf(&b, " memory for a copy of a key | collecting garbage |\n|--:|---|%s--:|--:|\n", strings.Repeat("--:|", 4*len(sw.depths)))
		for _, value := range sw.values {
			for _, s := range p.systems {
				p.scaleRow(&b, points, sw, s.name, value)
			}
		}
	}
	b.WriteString("\n![Throughput and latency as one thing grows](scale.svg)\n")
	return b.String()
}

// scaleRow writes a line of a table, if there is anything in it.
func (p *plan) scaleRow(b *strings.Builder, points []point, sw sweep, system string, value int) {
	var row strings.Builder
	memory, collecting, found := math.Inf(1), 0.0, false
	for _, depth := range sw.depths {
		for _, op := range []string{"SET", "GET"} {
			pt, ok := findPoint(points, sw.name, system, op, depth, value)
			if !ok {
				row.WriteString(" | |")
				continue
			}
			found = true
			failed := ""
			if pt.Errors > 0 {
				failed = fmt.Sprintf(", %d errors", pt.Errors)
			}
			fmt.Fprintf(&row, " %s%s | %s |", thousands(pt.Throughput), failed, inUnits(pt.P999))
			memory, collecting = min(memory, pt.Memory), max(collecting, pt.GC)
		}
	}
	if !found {
		return
	}
	share := ""
	if system == quollName {
		share = fmt.Sprintf("%.1f %%", 100*collecting)
	}
	fmt.Fprintf(b, "| %d | %s |%s %.0f B | %s |\n", value, system, row.String(), memory, share)
}

// curves are the lines of every diagram of a sweep.
var curves = []struct {
	system, op, label string
	look              look
}{
	{"redis", "SET", "one redis-server: SET", look{"#1d2330", 1.6}},
	{"redis", "GET", "one redis-server: GET", look{"#0a7fa8", 1.6}},
	{quollName, "SET", "Quoll: SET", look{"#d1495b", 3}},
	{quollName, "GET", "Quoll: GET", look{"#e8a33d", 3}},
}

// scalePlot draws a row for each sweep: throughput and p99.9 at depth 1, and throughput at its other depth.
func (p *plan) scalePlot(points []point) string {
	const columns = 3
	s := begin(2*margin+46+columns*panelW+(columns-1)*gapX, top+float64(len(sweeps))*(panelH+gapY)+10, "Throughput and latency as one thing grows",
		fmt.Sprintf("otherwise %d connections, %d keys, values of %d B; servers and generator share the cores", p.connections, p.keys, p.value),
		p.machine+", "+p.date.UTC().Format(time.DateOnly))
	for i, c := range curves {
		x, y := margin+222*float64(i%2), 86+18*float64(i/2)
		s.curve([][2]float64{{x + 4, y}, {x + 26, y}}, c.look)
		s.text(x+36, y+4, "", "start", c.label)
	}
	for row, sw := range sweeps {
		p.scalePanel(s, panelAt(0, row), sw, points, 1, "operations a second, depth 1", false)
		p.scalePanel(s, panelAt(1, row), sw, points, 1, "p99.9, depth 1", true)
		if len(sw.depths) > 1 {
			p.scalePanel(s, panelAt(2, row), sw, points, sw.depths[1], fmt.Sprintf("operations a second, depth %d", sw.depths[1]), false)
		}
	}
	return s.end()
}

// scalePanel draws one diagram: throughput or p99.9 at a depth.
func (p *plan) scalePanel(s *svg, at panel, sw sweep, points []point, depth int, head string, latency bool) {
	of := func(pt point) float64 {
		if latency {
			return pt.P999
		}
		return pt.Throughput
	}
	least, most := math.Inf(1), 1.0
	for _, pt := range points {
		if pt.Sweep == sw.name && pt.Depth == depth {
			least, most = min(least, of(pt)), max(most, of(pt))
		}
	}
	at.x.low, at.x.high, at.x.log = float64(sw.values[0])*0.8, float64(sw.values[len(sw.values)-1])*1.25, true
	ticks, label := even(most, 5), rate
	if latency {
		ticks, label = decades(min(least, most), most), powerOfTen
		at.y.log = true
	}
	at.y.low, at.y.high = ticks[0], ticks[len(ticks)-1]
	var values []float64
	for _, value := range sw.values {
		values = append(values, float64(value))
	}
	s.frame(at, head, values, short, ticks, label)
	s.text((at.x.from+at.x.to)/2, at.y.from+36, "", "middle", sw.title)
	for _, c := range curves {
		var drawn [][2]float64
		for _, value := range sw.values {
			if pt, ok := findPoint(points, sw.name, c.system, c.op, depth, value); ok {
				drawn = append(drawn, [2]float64{at.x.at(float64(value)), at.y.at(of(pt))})
			}
		}
		s.drawn(drawn, c.look)
	}
}

// short writes a number for an axis: powers of two and of ten by their units.
func short(v float64) string {
	n := int(v)
	switch {
	case n >= 1<<20 && n%(1<<20) == 0:
		return fmt.Sprintf("%dMi", n>>20)
	case n >= 1<<10 && n%(1<<10) == 0:
		return fmt.Sprintf("%dKi", n>>10)
	}
	return rate(v)
}
