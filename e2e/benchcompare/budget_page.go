package main

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"time"
)

// manyOthers is the share of CPU time without a stage above which the table says that stages.go should know more.
const manyOthers = 0.05

// budgetPage has a table for each depth.
func (p *plan) budgetPage(all []budget) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s: %s. %d connections, %d keys of 16 B, values of %d B, %s each; three nodes and a proxy; a redis-server just before. Microseconds of CPU time for each operation.\n\n"+
		"Again: `%s`\n", p.date.UTC().Format(time.DateOnly), p.machine, p.connections, p.keys, p.value, p.duration, p.cmd)
	for _, depth := range p.depths {
		budgetTable(&b, depth, slices.DeleteFunc(slices.Clone(all), func(of budget) bool { return of.Depth != depth }))
	}
	return b.String()
}

// budgetTable has a row for each stage, and two columns for each operation.
func budgetTable(b *strings.Builder, depth int, all []budget) {
	if len(all) == 0 {
		return
	}
	head, line := fmt.Sprintf("| depth %d |", depth), "|---|"
	for _, of := range all {
		head += fmt.Sprintf(" %s proxy | %s nodes |", of.Op, of.Op)
		line += "--:|--:|"
	}
	fmt.Fprintf(b, "\n%s\n%s\n", head, line)
	row := func(name string, text func(side) string) {
		fmt.Fprintf(b, "| %s |", name)
		for _, of := range all {
			fmt.Fprintf(b, " %s | %s |", text(of.Proxy), text(of.Nodes))
		}
		b.WriteString("\n")
	}
	for _, stage := range stages {
		row(stage, func(s side) string { return fmt.Sprintf("%.2f", s.Stages[stage]) })
	}
	row("**all**", func(s side) string { return fmt.Sprintf("**%.2f**", s.CPU) })
	row("floor: the same reads and writes alone", func(s side) string { return fmt.Sprintf("%.2f", s.Floor) })
	row("reads, writes for each operation", func(s side) string { return fmt.Sprintf("%.3f, %.3f", s.Reads, s.Writes) })
	row("bytes of each", func(s side) string { return fmt.Sprintf("%.0f, %.0f", s.ReadBytes, s.WrittenBytes) })
	b.WriteString("\n")
	for _, of := range all {
		b.WriteString(of.sum())
	}
}

// sum says what an operation costs in all, beside a redis-server, and which stages have most of it.
func (b budget) sum() string {
	spent := func(stage string) float64 { return b.Proxy.Stages[stage] + b.Nodes.Stages[stage] }
	most := slices.Clone(stages)
	slices.SortStableFunc(most, func(x, y string) int { return cmp.Compare(spent(y), spent(x)) })
	var named []string
	for _, stage := range most[:4] {
		named = append(named, fmt.Sprintf("%s %.2f", stage, spent(stage)))
	}
	all, note := b.Proxy.CPU+b.Nodes.CPU, ""
	if spent(other) > manyOthers*all {
		note = fmt.Sprintf(" **%.0f %% has no stage.**", 100*spent(other)/all)
	}
	return fmt.Sprintf("- %v: %.2f µs, a redis-server %.2f µs, the floor %.2f µs; other programs had %.0f %% of the machine. Most take: %s.%s\n", b.figure, all, b.Redis, b.Proxy.Floor+b.Nodes.Floor, 100*b.Others, strings.Join(named, ", "), note)
}

// writeBudget writes the tables into the page, and all numbers into the directory for results.
func (p *plan) writeBudget(all []budget) error {
	page := p.budgetPage(all)
	if err := p.writeFiles("budget.md", page, "budget.json", all, nil); err != nil {
		return err
	}
	return p.writePage("bench-budget", page, nil)
}
