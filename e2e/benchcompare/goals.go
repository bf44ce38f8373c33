package main

import (
	"fmt"
	"strings"
)

// goal is what was aimed at: our number divided by that of a peer, for each operation and depth.
type goal struct {
	title      string
	ours, peer string // names of systems
	of         func(cell) float64
	least      bool // the number is to be that or more; otherwise that or less
	wanted     map[figure]float64
}

// depthsOfGoals are the depths that goals are about.
var depthsOfGoals = []int{1, 16, 64}

// wants returns the figures of a goal: those of SET, and those of GET if there are any, in the order of the depths.
func wants(numbers ...float64) map[figure]float64 {
	all := map[figure]float64{}
	for i, n := range numbers {
		all[figure{[]string{"SET", "GET"}[i/len(depthsOfGoals)], depthsOfGoals[i%len(depthsOfGoals)]}] = n
	}
	return all
}

func throughputOf(c cell) float64 { return c.Throughput }

func slowestOf(c cell) float64 { return c.P999 }

// goals are what was aimed at.
var goals = []goal{
	{"one redis-server, nothing replicated", quollName, redisName, throughputOf, true, wants(0.60, 0.75, 0.85, 0.85, 1.2, 1.4)},
	{"redis-server, two replicas, `WAIT 1`", quollName, "wait", throughputOf, true, wants(1.3, 1.8, 2.0)},
	{"the same, p99.9 (1 or less)", quollName, "wait", slowestOf, false, wants(1, 1, 1)},
	{"nodes that serve clients, Redis Cluster with replicas", nodesName, "cluster", throughputOf, true, wants(0.8, 0.8, 0.8, 0.9, 0.95, 1.0)},
}

// goalsTable has a row for each goal whose systems were measured; nothing if there is none.
func goalsTable(cells []cell) string {
	var rows strings.Builder
	for _, g := range goals {
		row, known := "| "+g.title+" |", false
		for _, op := range []string{"SET", "GET"} {
			for _, depth := range depthsOfGoals {
				text := g.cell(cells, figure{op, depth})
				known = known || text != ""
				row += strings.TrimRight(" "+text, " ") + " |"
			}
		}
		if known {
			rows.WriteString(row + "\n")
		}
	}
	if rows.Len() == 0 {
		return ""
	}
	return "\n### Against what was aimed at\n\nOur number divided by the peer's; what was aimed at in brackets, **bold** where it is reached.\n\n" +
		"| | SET, depth 1 | SET, 16 | SET, 64 | GET, depth 1 | GET, 16 | GET, 64 |\n|---|--:|--:|--:|--:|--:|--:|\n" + rows.String()
}

// cell returns what stands in the table, nothing where nothing was aimed at or measured.
func (g goal) cell(cells []cell, f figure) string {
	wanted, is := g.wanted[f]
	ours, found := find(cells, g.ours, f.Op, f.Depth)
	theirs, found2 := find(cells, g.peer, f.Op, f.Depth)
	if !is || !found || !found2 || g.of(theirs) == 0 {
		return ""
	}
	ratio := g.of(ours) / g.of(theirs)
	text := fmt.Sprintf("%.2f", ratio)
	if g.least && ratio >= wanted || !g.least && ratio <= wanted {
		text = "**" + text + "**"
	}
	return fmt.Sprintf("%s (%g)", text, wanted)
}
