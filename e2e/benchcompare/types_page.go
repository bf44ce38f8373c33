package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// writeTypes writes what was measured of types into the directory for results, and the tables to standard output.
func (p *plan) writeTypes(points []typePoint) error {
	return p.writeFiles("types.md", p.typesPage(points), "types.json", points, nil)
}

// typesPage has a table of commands for each number of elements, and one of memory.
func (p *plan) typesPage(points []typePoint) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s: %s.\n", p.date.UTC().Format(time.DateOnly), p.machine)
	fmt.Fprintf(&b, "Engine %s; %d connections, keys of 16 B, members of 8 B, elements of lists and strings of %d B, uniform; three nodes and a proxy beside one redis-server. Servers and generator "+
		"share the cores. Medians of %s of %s each, in turns.\n\nAgain: `%s`\n", cmp.Or(p.engine, memoryEngine), p.connections, p.value, count(p.rounds, "round"), p.duration, p.cmd)
	for _, elements := range p.sizes {
		p.typeTable(&b, points, elements)
	}
	p.memoryTable(&b, points)
	return b.String()
}

// typeTable writes what commands do on keys of some elements.
func (p *plan) typeTable(b *strings.Builder, points []typePoint, elements int) {
	var measures []measure
	for _, pt := range points {
		if pt.Bytes == 0 && pt.Elements == elements {
			measures = append(measures, pt.measure)
		}
	}
	keys := p.keys
	if elements > smallFields {
		keys = fewHashes
	}
	fmt.Fprintf(b, "\n### %d keys of %d elements\n\nOperations a second; quoll/redis, and that divided by the same ratio of SET, or of GET for what only reads; and the "+
		"latter of what is done with a second of CPU time, which others on the machine change less.\n\n"+
		"| | depth | quoll | CPU | p99 | redis | CPU | p99 | quoll/redis | to SET, GET | by CPU |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n", keys, elements)
	cells := summarize(measures)
	for _, depth := range p.depths {
		for _, op := range append([]string{"SET", "GET"}, operationsOf(valueTypes)...) {
			ours, ok := find(cells, quollName, op, depth)
			theirs, ok2 := find(cells, redisName, op, depth)
			if !ok || !ok2 {
				continue
			}
			relative, byCPU := "", ""
			plain, ok := find(cells, quollName, against(op), depth)
			theirPlain, ok2 := find(cells, redisName, against(op), depth)
			if ok && ok2 && plain.Op != op {
				relative = fmt.Sprintf("%.2f", ratio(ours, theirs)/ratio(plain, theirPlain))
				byCPU = fmt.Sprintf("%.2f", theirs.CPU/max(0.01, ours.CPU)*plain.CPU/max(0.01, theirPlain.CPU))
			}
			fmt.Fprintf(b, "| %s | %d | %s%s | %.1f µs | %s | %s%s | %.1f µs | %s | %.2f | %s | %s |\n", shown(op), depth, thousands(ours.Throughput), ours.failures(), ours.CPU, inUnits(ours.P99),
				thousands(theirs.Throughput), theirs.failures(), theirs.CPU, inUnits(theirs.P99), ratio(ours, theirs), relative, byCPU)
		}
	}
	b.WriteString("\nAimed at: the ratio to SET and GET ≥ 0.9.\n")
}

// operationsOf returns the operations of all types.
func operationsOf(types []valueType) (all []string) {
	for _, t := range types {
		all = append(all, t.operations...)
	}
	return all
}

// shown is an operation as tables have it.
func shown(operation string) string {
	switch operation {
	case "LPOP":
		return "LPUSH, LPOP"
	case "ZRANGE":
		return "ZRANGE of 10"
	}
	return operation
}

func ratio(ours, theirs cell) float64 { return ours.Throughput / max(1, theirs.Throughput) }

// memoryTable writes how much memory keys take.
func (p *plan) memoryTable(b *strings.Builder, points []typePoint) {
	if p.filled == 0 {
		return
	}
	fmt.Fprintf(b, "\n### Memory\n\nBytes for each element, elements of lists of %d B: of Quoll resident memory of the nodes, for each of %d copies, of a redis-server used_memory.\n\n"+
		"| | keys | elements | quoll | redis | quoll/redis |\n|---|--:|--:|--:|--:|--:|\n", memoryValue, copies)
	for _, t := range valueTypes {
		for _, elements := range []int{smallFields, p.filled} {
			bytes := func(system string) float64 {
				i := slices.IndexFunc(points, func(pt typePoint) bool {
					return pt.Bytes > 0 && pt.Type == t.name && pt.System == system && pt.Elements == elements
				})
				if i < 0 {
					return 0
				}
				return points[i].Bytes / float64(elements)
			}
			if ours, theirs := bytes(quollName), bytes(redisName); ours > 0 && theirs > 0 {
				fmt.Fprintf(b, "| %s | %d | %d | %.1f | %.1f | %.2f |\n", t.name, max(1, p.filled/elements), elements, ours, theirs, ours/theirs)
			}
		}
	}
	b.WriteString("\nAimed at: ≤ 1.2 with few elements, ≤ 1.5 with many.\n")
}
