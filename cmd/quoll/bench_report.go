package main

import (
	"encoding/csv"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"
	"time"

	"github.com/quolldb/quoll/internal/bench"
)

// errInterruptedEarly ends `bench` when there is nothing to print yet.
var errInterruptedEarly = errors.New("interrupted before anything was measured")

// verdictOfBench is an error if answers were not as they should be.
func verdictOfBench(r bench.Report) error {
	failed, missing, wrong := r.Total()
	switch {
	case r.Options.Check && missing+wrong > 0:
		return fmt.Errorf("of the values that must be there %d were missing and %d wrong", missing, wrong)
	case failed > 0:
		return fmt.Errorf("answers were errors: %d, the last one: %s", failed, printable(r.LastError))
	}
	return nil
}

func (a *app) printBench(r bench.Report, form form) error {
	switch form {
	case asJSON:
		return printJSON(a.stdout, r)
	case asCSV:
		return writeBenchCSV(a.stdout, r)
	}
	return writeBenchTable(a.stdout, r)
}

// benchColumns head the measures in tables.
var benchColumns = []string{"trial", "op", "ops/s", "p50", "p99", "p99.9", "max", "operations", "errors", "missing", "wrong"}

func writeBenchTable(w io.Writer, r bench.Report) error {
	o := r.Options
	end := ""
	if r.Interrupted {
		end = " (interrupted)"
	}
	fields := ""
	if o.Fields > 0 {
		fields = fmt.Sprintf("%s of %d B, ", plural(int64(o.Fields), "field"), o.FieldSize)
	}
	fmt.Fprintf(w, "Bench of %s%s: %s, %s with a depth of %d, %s of %d B, %svalues of %d B, %s.\n\n", printable(strings.Join(o.Addresses, ", ")), end,
		o.Workload, plural(int64(o.Connections), "connection"), o.Depth, plural(int64(o.Keys), "key"), o.KeySize, fields, o.ValueSize, o.Distribution)
	if len(r.Rows) == 0 {
		fmt.Fprintln(w, "Nothing was measured.")
		return nil
	}
	g := newGrid(benchColumns...)
	whole := func(x float64) string { return strconv.FormatFloat(x, 'f', 0, 64) }
	micros := func(x float64) string { return latency(time.Duration(x * float64(time.Microsecond))) }
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	for _, row := range r.Rows {
		g.add(strconv.Itoa(row.Trial), row.Op, whole(row.Throughput), micros(row.P50), micros(row.P99), micros(row.P999), micros(row.Max),
			number(row.Operations), number(row.Errors), number(row.Missing), number(row.Wrong))
	}
	if r.Options.Trials > 1 {
		for _, s := range r.Summary {
			for _, q := range benchQuartiles {
				g.add(q.name, s.Op, whole(q.of(s.Throughput)), micros(q.of(s.P50)), micros(q.of(s.P99)), micros(q.of(s.P999)), micros(q.of(s.Max)))
			}
		}
	}
	return g.write(w)
}

// benchQuartiles are what is shown of several trials.
var benchQuartiles = []struct {
	name string
	of   func(bench.Spread) float64
}{
	{"25%", func(s bench.Spread) float64 { return s.P25 }},
	{"median", func(s bench.Spread) float64 { return s.Median }},
	{"75%", func(s bench.Spread) float64 { return s.P75 }},
}

// writeBenchCSV writes a line for each operation of each trial.
func writeBenchCSV(w io.Writer, r bench.Report) error {
	out := csv.NewWriter(w)
	_ = out.Write([]string{"trial", "op", "operations_per_second", "p50_us", "p99_us", "p99_9_us", "max_us", "operations", "errors", "missing", "wrong", "seconds"})
	float := func(x float64) string { return strconv.FormatFloat(x, 'f', -1, 64) }
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	for _, row := range r.Rows {
		_ = out.Write([]string{strconv.Itoa(row.Trial), row.Op, float(row.Throughput), float(row.P50), float(row.P99), float(row.P999), float(row.Max),
			number(row.Operations), number(row.Errors), number(row.Missing), number(row.Wrong), float(row.Seconds)})
	}
	out.Flush()
	return out.Error() // of any of the lines
}
