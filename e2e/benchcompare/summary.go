package main

import (
	"cmp"
	"slices"
)

// cell is a system at one operation and depth: the medians over rounds.
type cell struct {
	System                    string
	Op                        string
	Depth                     int
	Throughput                float64
	Least, Most               float64 // throughput of the slowest and the fastest round
	P50, P99, P999            float64
	CPU                       float64
	Operations, Errors, Empty int64 // over all rounds; Empty ones were reads that found nothing
}

// summarize returns the cells of what was measured, in the order of the systems, SET before GET, depths as measured.
func summarize(all []measure) []cell {
	type key struct {
		system, op string
		depth      int
	}
	groups := map[key][]measure{}
	var order []key
	for _, m := range all {
		k := key{m.System, m.Op, m.Depth}
		if groups[k] == nil {
			order = append(order, k)
		}
		groups[k] = append(groups[k], m)
	}
	var cells []cell
	for _, k := range order {
		g := groups[k]
		of := func(field func(measure) float64) float64 { return median(g, field) }
		c := cell{
			System: k.system, Op: k.op, Depth: k.depth,
			Throughput: of(func(m measure) float64 { return m.Throughput }),
			P50:        of(func(m measure) float64 { return m.P50 }), P99: of(func(m measure) float64 { return m.P99 }), P999: of(func(m measure) float64 { return m.P999 }),
			CPU: of(func(m measure) float64 { return m.CPU }),
		}
		byRate := func(a, b measure) int { return cmp.Compare(a.Throughput, b.Throughput) }
		c.Least, c.Most = slices.MinFunc(g, byRate).Throughput, slices.MaxFunc(g, byRate).Throughput
		for _, m := range g {
			c.Operations, c.Errors, c.Empty = c.Operations+m.Operations, c.Errors+m.Errors, c.Empty+m.Missing
		}
		cells = append(cells, c)
	}
	return cells
}

// median is that of a field; of an even number the mean of the two in the middle.
func median(group []measure, field func(measure) float64) float64 {
	var values []float64
	for _, m := range group {
		values = append(values, field(m))
	}
	slices.Sort(values)
	return middle(values)
}

// middle is the median of values in their order, of which there is one at least.
func middle(values []float64) float64 {
	return (values[(len(values)-1)/2] + values[len(values)/2]) / 2
}

// find returns a cell, if it was measured.
func find(cells []cell, system, op string, depth int) (cell, bool) {
	i := slices.IndexFunc(cells, func(c cell) bool { return c.System == system && c.Op == op && c.Depth == depth })
	if i < 0 {
		return cell{}, false
	}
	return cells[i], true
}
