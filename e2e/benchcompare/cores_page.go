package main

import (
	"fmt"
	"math"
	"strings"
	"time"
)

// wantedCores and wantedShare are what was aimed at: that so many cores are kept busy to that share.
const (
	wantedCores = 8
	wantedShare = 0.8
)

// writeCores writes what was measured into the directory for results, and the tables into the page.
func (p *plan) writeCores(all []cored) error {
	page := p.coresPage(all)
	if err := p.writeFiles("cores.md", page, "cores.json", all, nil); err != nil {
		return err
	}
	return p.writePage("bench-cores", page, nil)
}

// coresPage has a table of what was measured, and one of what is computed.
func (p *plan) coresPage(all []cored) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s: %s. %d connections, %d keys of 16 B, values of %d B, %s each; three nodes and a proxy. Servers have the first cores, the generator the others. "+
		"In brackets: throughput for each core, divided by that on one.\n\nAgain: `%s`\n\n", p.date.UTC().Format(time.DateOnly), p.machine, p.connections, p.keys, p.value, p.duration, p.cmd)
	head, line := "| cores | |", "|--:|---|"
	for _, f := range p.figures() {
		head += fmt.Sprintf(" %v |", f)
		line += "--:|"
	}
	fmt.Fprintf(&b, "%s\n%s\n", head, line)
	var counts []int
	for _, c := range all {
		if len(counts) == 0 || counts[len(counts)-1] < c.Cores {
			counts = append(counts, c.Cores)
		}
	}
	for _, n := range counts {
		for _, s := range p.systems {
			p.coresRow(&b, all, s.name, n)
		}
	}
	fmt.Fprintf(&b, "\nWhat is done for one command after the other, in microseconds of CPU time, and how many cores that keeps busy:\n\n"+
		"| | in a proxy | on a node's connection with it | cores for each proxy | proxies for %d cores at %g |\n|---|--:|--:|--:|--:|\n", wantedCores, wantedShare)
	for _, c := range all {
		if c.Budget == nil {
			continue
		}
		proxy, node, cores := c.Budget.busyCores(copies)
		fmt.Fprintf(&b, "| %v | %.2f | %.2f | %.1f | %.0f |\n", c.Budget.figure, proxy, node, cores, math.Ceil(wantedCores*wantedShare/cores))
	}
	return b.String()
}

// figures are what is measured at each number of cores.
func (p *plan) figures() (list []figure) {
	for _, op := range []string{"SET", "GET"} {
		for _, depth := range p.depths {
			list = append(list, figure{op, depth})
		}
	}
	return list
}

// coresRow writes a line of the table, if there is anything in it.
func (p *plan) coresRow(b *strings.Builder, all []cored, system string, cores int) {
	rate := func(f figure, cores int) float64 {
		for _, c := range all {
			if c.System == system && c.Cores == cores && c.Op == f.Op && c.Depth == f.Depth {
				return c.Throughput
			}
		}
		return 0
	}
	fmt.Fprintf(b, "| %d | %s |", cores, system)
	for _, f := range p.figures() {
		if at, one := rate(f, cores), rate(f, 1); at > 0 && one > 0 {
			fmt.Fprintf(b, " %s (%.2f) |", thousands(at), at/one/float64(cores))
		} else {
			b.WriteString(" |")
		}
	}
	b.WriteString("\n")
}
