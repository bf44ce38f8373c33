package main

import (
	"fmt"
	"slices"
	"strings"
	"time"
)

// diskNames are the names of the cases.
func diskNames() (names []string) {
	for _, c := range diskCases {
		names = append(names, c.name)
	}
	return names
}

// writeDisk writes what was measured into the directory for results, and the tables into the page.
func (p *plan) writeDisk(points []diskPoint) error {
	page := p.diskPage(points)
	if err := p.writeFiles("disk.md", page, "disk.json", points, nil); err != nil {
		return err
	}
	return p.writePage("bench-disk", page, nil)
}

// diskPage has a table of commands, and one of what all of it takes.
func (p *plan) diskPage(points []diskPoint) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s: %s. Engine %s; %d connections, keys of %d B. Both sides run at the same time, and are measured in turns: medians of %s of %s each, with the least and the most ratio. "+
		"Servers and generator share the cores. What was aimed at is in brackets, **bold** where it is reached. Written: bytes that reached disks for each byte of keys and values that were set, until all was there (`sync`).\n\nAgain: `%s`\n",
		p.date.UTC().Format(time.DateOnly), p.machine, p.diskEngine(), p.connections, keySize, count(p.rounds, "round"), p.duration, p.cmd)
	for i := range diskCases {
		c := &diskCases[i]
		var of []diskPoint
		for _, pt := range points {
			if pt.Case == c.name {
				of = append(of, pt)
			}
		}
		if len(of) > 0 {
			p.diskTable(&b, c, of)
		}
	}
	return b.String()
}

// diskTable writes one case.
func (p *plan) diskTable(b *strings.Builder, c *diskCase, points []diskPoint) {
	fmt.Fprintf(b, "\n**%s.** %d keys.", strings.ToUpper(c.title[:1])+c.title[1:], p.keysOf(c))
	for _, pt := range points {
		if pt.Copies > 0 {
			whose := "Quoll"
			if pt.System == peerName {
				whose = "beside it"
			}
			fmt.Fprintf(b, " A copy of a key takes %.0f B of memory and %.0f B on disk (%s).", pt.Memory, pt.Disk, whose)
		}
	}
	b.WriteString("\n\n| | a second | p99 | CPU | beside it | p99 | CPU | ratio | | written |\n|---|--:|--:|--:|--:|--:|--:|--:|---|--:|\n")
	for _, op := range []string{"SET", "GET"} {
		for _, depth := range p.depths {
			c.row(b, points, figure{op, depth})
		}
	}
}

// row writes a line of the table, if both sides were measured.
func (c *diskCase) row(b *strings.Builder, points []diskPoint, f figure) {
	var measures []measure
	var ratios, written []float64
	for _, pt := range points {
		if pt.Copies > 0 || pt.Op != f.Op || pt.Depth != f.Depth {
			continue
		}
		measures = append(measures, pt.measure)
		if pt.System == oursName {
			written = append(written, pt.Written)
			for _, other := range points {
				if other.System == peerName && other.Round == pt.Round && other.Op == pt.Op && other.Depth == pt.Depth && other.Throughput > 0 {
					ratios = append(ratios, pt.Throughput/other.Throughput)
				}
			}
		}
	}
	if len(ratios) == 0 {
		return
	}
	cells := summarize(measures)
	ours, _ := find(cells, oursName, f.Op, f.Depth)
	peer, _ := find(cells, peerName, f.Op, f.Depth)
	slices.Sort(ratios)
	slices.Sort(written)
	text := fmt.Sprintf("%.2f", middle(ratios))
	if wanted := c.wanted[f.Op]; f.Depth == 1 || c.allDepths {
		if middle(ratios) >= wanted {
			text = "**" + text + "**"
		}
		text += fmt.Sprintf(" (%g)", wanted)
	}
	amplified := ""
	if f.Op == "SET" {
		amplified = fmt.Sprintf(" %.1f", middle(written))
	}
	fmt.Fprintf(b, "| %v | %s%s | %s | %.1f µs | %s%s | %s | %.1f µs | %s | %.2f–%.2f |%s |\n", f, thousands(ours.Throughput), ours.failures(), inUnits(ours.P99), ours.CPU,
		thousands(peer.Throughput), peer.failures(), inUnits(peer.P99), peer.CPU, text, ratios[0], ratios[len(ratios)-1], amplified)
}
