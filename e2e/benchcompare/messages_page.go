package main

import (
	"fmt"
	"strings"
	"time"
)

// writeMessages writes what was measured of messages into the directory for results, and the table to standard output.
func (p *plan) writeMessages(all []measure) error {
	return p.writeFiles("messages.md", p.messagesPage(all), "messages.json", all, nil)
}

// messagesPage has a table of all that was measured.
func (p *plan) messagesPage(all []measure) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s: %s.\n", p.date.UTC().Format(time.DateOnly), p.machine)
	fmt.Fprintf(&b, "%d connections, %d keys, values and messages of %d B; three nodes and a proxy beside one redis-server. Servers and generator share the cores. "+
		"Medians of %s of %s each, in turns.\n\nAgain: `%s`\n\n", p.connections, p.keys, p.value, count(p.rounds, "round"), p.duration, p.cmd)
	b.WriteString("Operations a second, CPU time of all servers for each, and p99 of a pipeline, or of a hand-over.\n\n" +
		"| | depth | quoll | CPU | p99 | redis | CPU | p99 | quoll/redis | to SET | aimed at |\n|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|\n")
	cells := summarize(all)
	for _, depth := range p.depths {
		for _, op := range messageOps {
			ours, ok := find(cells, quollName, op.name, depth)
			theirs, ok2 := find(cells, redisName, op.name, depth)
			if !ok || !ok2 {
				continue
			}
			relative, aim := "", ""
			if set, ok := find(cells, quollName, opSet, depth); ok && op.name != opSet {
				if redisSet, ok := find(cells, redisName, opSet, depth); ok {
					relative = fmt.Sprintf("%.2f", ratio(ours, theirs)/ratio(set, redisSet))
				}
			}
			switch {
			case op.relative:
				aim = fmt.Sprintf("%.1f to SET", op.aim)
			case op.aim > 0:
				aim = fmt.Sprintf("%.1f", op.aim)
			}
			fmt.Fprintf(&b, "| %s | %d | %s | %.1f µs | %s | %s | %.1f µs | %s | %.2f | %s | %s |\n", op.name, depth, thousands(ours.Throughput), ours.CPU, inUnits(ours.P99),
				thousands(theirs.Throughput), theirs.CPU, inUnits(theirs.P99), ratio(ours, theirs), relative, aim)
		}
	}
	return b.String()
}
