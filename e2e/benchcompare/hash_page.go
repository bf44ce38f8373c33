package main

import (
	"fmt"
	"strconv"
	"strings"
	"time"
)

// writeHash writes what was measured of hashes into the directory for results, and the tables to standard output.
func (p *plan) writeHash(points []hashPoint) error {
	return p.writeFiles("hash.md", p.hashPage(points), "hash.json", points, nil)
}

// hashPage has a table for each part.
func (p *plan) hashPage(points []hashPoint) string {
	var b strings.Builder
	var measures []measure
	for _, pt := range points {
		if pt.Part == small {
			measures = append(measures, pt.measure)
		}
	}
	fmt.Fprintf(&b, "Measured on %s: %s.\n", p.date.UTC().Format(time.DateOnly), p.machine)
	fmt.Fprintf(&b, "%d connections, keys of 16 B, fields of 8 B, values of %d B, uniform; three nodes and a proxy. Servers and generator share the cores.\n\nAgain: `%s`\n",
		p.connections, p.value, p.cmd)
	fmt.Fprintf(&b, "\n### A small hash beside a string\n\n%d strings and %d hashes of %d fields on the same servers, nodes in memory; medians of %s of %s each, in turns. "+
		"Operations a second, and what is left of them (CPU: of all servers, for each operation) with a hash.\n\n"+
		"| depth | | SET | HSET | HSET/SET | CPU | GET | HGET | HGET/GET | CPU |\n|--:|---|--:|--:|--:|--:|--:|--:|--:|--:|\n",
		p.keys, p.keys, smallFields, count(p.rounds, "round"), p.duration)
	cells := summarize(measures)
	for _, depth := range p.depths {
		for _, s := range p.systems {
			smallRow(&b, cells, s.name, depth)
		}
		againstRow(&b, cells, depth)
	}
	b.WriteString("\nAimed at: HSET/SET and HGET/GET ≥ 0.9, and quoll/redis of HSET and HGET no less than of SET and GET.\n")
	fmt.Fprintf(&b, "\n### One field of a hash that grows\n\nDepth 1, %d hashes, or strings, one measurement of %s each. On disk everything is fsynced before it is answered. CPU and bytes written to disks "+
		"are those of all servers that hold data, for each operation, with what they do and write up to %s later; in brackets, divided by those of %d fields, and by the bytes of a field and its value.\n\n"+
		"| | engine | fields | HSET | p99 | CPU | bytes to disks | HGET | p99 | CPU |\n|---|---|--:|--:|--:|--:|--:|--:|--:|--:|\n",
		fewHashes, p.duration, settlePatience, p.sizes[0])
	for _, s := range p.systems {
		for _, engine := range s.engines() {
			for _, fields := range append([]int{0}, p.sizes...) {
				p.growingRow(&b, points, s.name, engine, fields)
			}
		}
	}
	b.WriteString("\nAimed at: CPU of HSET ≤ 1.3 times that of the smallest, bytes to disks ≤ 20 times the field's.\n")
	return b.String()
}

// smallRow writes what one system does at a depth.
func smallRow(b *strings.Builder, cells []cell, system string, depth int) {
	fmt.Fprintf(b, "| %d | %s |", depth, nameOf(system))
	for _, ops := range [][2]string{{"SET", "HSET"}, {"GET", "HGET"}} {
		plain, ok := find(cells, system, ops[0], depth)
		hash, ok2 := find(cells, system, ops[1], depth)
		if !ok || !ok2 {
			b.WriteString(" | | | |")
			continue
		}
		fmt.Fprintf(b, " %s%s | %s%s | %.2f | %.2f |", thousands(plain.Throughput), plain.failures(), thousands(hash.Throughput), hash.failures(),
			hash.Throughput/max(1, plain.Throughput), hash.CPU/max(0.01, plain.CPU))
	}
	b.WriteString("\n")
}

// againstRow writes what Quoll does divided by what a redis-server does.
func againstRow(b *strings.Builder, cells []cell, depth int) {
	row := fmt.Sprintf("| %d | quoll/redis |", depth)
	for _, op := range []string{"SET", "HSET", "GET", "HGET"} {
		ours, ok := find(cells, quollName, op, depth)
		theirs, ok2 := find(cells, redisName, op, depth)
		if !ok || !ok2 {
			return
		}
		row += fmt.Sprintf(" %.2f |", ours.Throughput/max(1, theirs.Throughput))
		if strings.HasPrefix(op, "H") {
			row += " | |"
		}
	}
	b.WriteString(row + "\n")
}

// growingRow writes what an engine does with hashes of some fields, if that was measured.
func (p *plan) growingRow(b *strings.Builder, points []hashPoint, system, engine string, fields int) {
	write, read, found := findHash(points, system, engine, fields)
	if !found {
		return
	}
	size := strconv.Itoa(fields)
	if fields == 0 {
		size = "a string: SET, GET"
	}
	smallestWrite, smallestRead, known := findHash(points, system, engine, p.sizes[0])
	times := func(cost, smallest float64) string {
		if !known || fields <= p.sizes[0] || smallest == 0 {
			return ""
		}
		return fmt.Sprintf(" (%.2f)", cost/smallest)
	}
	bytes := ""
	if write.Written > 0 {
		bytes = fmt.Sprintf("%.0f B (%.1f)", write.Written, write.Written/float64(p.value+fieldSize))
	}
	fmt.Fprintf(b, "| %s | %s | %s | %s%s | %s | %.1f µs%s | %s | %s%s | %s | %.1f µs%s |\n", nameOf(system), engine, size,
		thousands(write.Throughput), write.failures(), inUnits(write.P99), write.NodeCPU, times(write.NodeCPU, smallestWrite.NodeCPU), bytes,
		thousands(read.Throughput), read.failures(), inUnits(read.P99), read.NodeCPU, times(read.NodeCPU, smallestRead.NodeCPU))
}

// fieldSize is the length of a field's name that quoll bench gives it.
const fieldSize = 8

// findHash returns what was measured of writing and of reading hashes of some fields.
func findHash(points []hashPoint, system, engine string, fields int) (write, read hashPoint, found bool) {
	for _, pt := range points {
		if pt.Part != growing || pt.System != system || pt.Engine != engine || pt.Fields != fields {
			continue
		}
		if found = true; strings.HasSuffix(pt.Op, "SET") {
			write = pt
		} else {
			read = pt
		}
	}
	return write, read, found
}

// nameOf writes a system's name, ours in bold.
func nameOf(system string) string {
	if system == quollName {
		return "**" + system + "**"
	}
	return system
}

// failures says what else than an answer there was, if there was.
func (m measure) failures() string { return failures(m.Errors, m.Operations) }
func (c cell) failures() string    { return failures(c.Errors, c.Operations) }

func failures(errors, operations int64) string {
	if errors == 0 {
		return ""
	}
	return fmt.Sprintf(", %d errors in %d", errors, operations+errors)
}
