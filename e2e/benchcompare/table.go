package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"strings"
	"time"
)

// write writes everything into the directory for results, and the table to standard output.
func (p *plan) write(all []measure) error {
	cells := summarize(all)
	page, plots := p.markdown(cells), map[string]string{"throughput.svg": p.throughputPlot(cells), "latency.svg": p.latencyPlot(cells)}
	if err := p.writeFiles("compare.md", page, "measurements.json", all, plots); err != nil {
		return err
	}
	return p.writePage("bench-compare", page, plots)
}

// writeFiles writes a page, all measurements as JSON, and plots into the directory for results, and the page to standard output too.
func (p *plan) writeFiles(pageName, page, rawName string, all any, plots map[string]string) error {
	raw, err := json.MarshalIndent(all, "", "  ")
	if err != nil {
		return err
	}
	if err := os.MkdirAll(p.out, 0o755); err != nil {
		return err
	}
	files := map[string]string{pageName: page, rawName: string(raw) + "\n"}
	maps.Copy(files, plots)
	for name, text := range files {
		if err := os.WriteFile(filepath.Join(p.out, name), []byte(text), 0o644); err != nil {
			return err
		}
	}
	fmt.Print(page)
	fmt.Fprintf(os.Stderr, "\nTables, plots and all measurements are in %s.\n", p.out)
	return nil
}

// markdown is what was measured, as a page.
func (p *plan) markdown(cells []cell) string {
	var b strings.Builder
	fmt.Fprintf(&b, "Measured on %s: %s.\n", p.date.UTC().Format(time.DateOnly), p.machine)
	procs := ""
	if p.procs != "" {
		procs = fmt.Sprintf(" Each of Quoll's processes, the generator too, had `GOMAXPROCS=%s`.", p.procs)
	}
	fmt.Fprintf(&b, "%d connections, %d keys of 16 B, values of %d B, uniform; medians of %s of %s each, in turns. Servers and generator share the cores.%s\n\n",
		p.connections, p.keys, p.value, count(p.rounds, "round"), p.duration, procs)
	fmt.Fprintf(&b, "Again: `%s`\n\n", p.cmd)
	for _, s := range p.systems {
		fmt.Fprintf(&b, "- **%s**: %s (%s)\n", s.name, s.title, s.version)
	}
	for _, why := range p.missing {
		fmt.Fprintf(&b, "- left out: %s\n", why)
	}
	b.WriteString("\nCPU is the user and system time of all server processes for each operation. In brackets: Quoll's number divided by this one " +
		"(throughput: more is better; latency and CPU: less is better).\n")
	for _, op := range []string{"SET", "GET"} {
		fmt.Fprintf(&b, "\n### %s\n\n| depth | | operations a second | slowest to fastest round | p50 | p99 | p99.9 | CPU |\n|--:|---|--:|--:|--:|--:|--:|--:|\n", op)
		for _, depth := range p.depths {
			ours, known := find(cells, quollName, op, depth)
			for _, s := range p.systems {
				if c, ok := find(cells, s.name, op, depth); ok {
					c.row(&b, ours, known)
				}
			}
		}
	}
	b.WriteString("\n![Throughput against depth](throughput.svg)\n\n![Latency percentiles](latency.svg)\n")
	return b.String() + goalsTable(cells)
}

// row writes a line of a table, with ours divided by it.
func (c cell) row(b *strings.Builder, ours cell, known bool) {
	against := func(ours, theirs float64) string {
		if !known || c.System == quollName || theirs == 0 {
			return ""
		}
		return fmt.Sprintf(" (%.2f)", ours/theirs)
	}
	name := c.System
	if c.System == quollName {
		name = "**" + name + "**"
	}
	if c.Errors > 0 {
		name += fmt.Sprintf(", %d errors in %d", c.Errors, c.Operations+c.Errors)
	}
	if c.Empty > 0 {
		name += fmt.Sprintf(", %d reads found nothing", c.Empty)
	}
	fmt.Fprintf(b, "| %d | %s | %s%s | %s to %s | %s%s | %s%s | %s%s | %.1f µs%s |\n", c.Depth, name,
		thousands(c.Throughput), against(ours.Throughput, c.Throughput), thousands(c.Least), thousands(c.Most),
		inUnits(c.P50), against(ours.P50, c.P50), inUnits(c.P99), against(ours.P99, c.P99), inUnits(c.P999), against(ours.P999, c.P999),
		c.CPU, against(ours.CPU, c.CPU))
}

// count writes "1 round", "3 rounds".
func count(n int, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return fmt.Sprintf("%d %ss", n, thing)
}

// thousands writes a rate in three digits or more: 86,100.
func thousands(rate float64) string {
	switch {
	case rate >= 100_000:
		return fmt.Sprintf("%.0f,000", rate/1000)
	case rate >= 1000:
		hundreds := int(rate/100 + 0.5)
		return fmt.Sprintf("%d,%d00", hundreds/10, hundreds%10)
	}
	return fmt.Sprintf("%.0f", rate)
}

// inUnits writes microseconds as people would.
func inUnits(micros float64) string {
	switch {
	case micros >= 1e6:
		return fmt.Sprintf("%.2f s", micros/1e6)
	case micros >= 1e4:
		return fmt.Sprintf("%.1f ms", micros/1e3)
	case micros >= 1e3:
		return fmt.Sprintf("%.2f ms", micros/1e3)
	}
	return fmt.Sprintf("%.0f µs", micros)
}
