package bench

import "time"

// Report is what a run measured.
type Report struct {
	Options Echo  `json:"options"`
	Rows    []Row `json:"rows"`
	// Summary has the quartiles over trials for each operation.
	Summary     []Summary `json:"summary"`
	Interrupted bool      `json:"interrupted"`
	// LastError is the text of the last answer that was an error.
	LastError string `json:"last_error,omitempty"`
}

// Echo is what was asked for.
type Echo struct {
	Addresses    []string `json:"addresses"`
	Workload     string   `json:"workload"`
	Distribution string   `json:"distribution"`
	Connections  int      `json:"connections"`
	Depth        int      `json:"depth"`
	KeySize      int      `json:"key_size"`
	ValueSize    int      `json:"value_size"`
	Keys         int      `json:"keys"`
	SetFraction  float64  `json:"set_fraction"`
	Wait         int      `json:"wait"`
	Trials       int      `json:"trials"`
	Check        bool     `json:"check"`
	// Fields and FieldSize are those of collections, 0 if Commands are on strings.
	Commands  []string `json:"commands"`
	Fields    int      `json:"fields,omitempty"`
	FieldSize int      `json:"field_size,omitempty"`
}

// Row is one operation in one trial. Latencies are in microseconds.
type Row struct {
	Trial int `json:"trial"`
	// Op is the command, "HSET new" for those that add the fields which HDEL removes (LPUSH adds what LPOP removes), or all for several that were sent at the same time.
	Op string `json:"op"`
	// Operations were answered without an error, Errors with one. Among the former are Missing ones, which found no value, and Wrong ones, which
	// found another one than was written (with Options.Check). What Check finds missing includes a field that HSET or HDEL should have found.
	Operations int64 `json:"operations"`
	Errors     int64 `json:"errors"`
	Missing    int64 `json:"missing"`
	Wrong      int64 `json:"wrong"`

	Seconds    float64 `json:"seconds"`
	Throughput float64 `json:"operations_per_second"`
	P50        float64 `json:"p50_us"`
	P99        float64 `json:"p99_us"`
	P999       float64 `json:"p99_9_us"`
	Max        float64 `json:"max_us"`
}

// Summary is one operation over all trials.
type Summary struct {
	Op         string `json:"op"`
	Throughput Spread `json:"operations_per_second"`
	P50        Spread `json:"p50_us"`
	P99        Spread `json:"p99_us"`
	P999       Spread `json:"p99_9_us"`
	Max        Spread `json:"max_us"`
}

func (o *Options) echo() Echo {
	echo := Echo{
		Addresses: o.Addresses, Workload: o.Workload, Distribution: o.Distribution, Connections: o.Connections, Depth: o.Depth,
		KeySize: o.KeySize, ValueSize: o.ValueSize, Keys: o.Keys, SetFraction: o.SetFraction, Wait: o.Wait, Trials: o.Trials, Check: o.Check,
	}
	for _, k := range o.kinds() {
		echo.Commands = append(echo.Commands, k.op())
	}
	if o.collections() {
		echo.Fields, echo.FieldSize = o.Fields, o.FieldSize
	}
	return echo
}

// add adds the rows of a phase.
func (r *Report) add(trial int, t *tally, elapsed time.Duration) {
	if t.lastError != "" {
		r.LastError = t.lastError
	}
	all := newTally()
	done := 0
	for k := range kinds {
		row := t.row(k, elapsed)
		if row.Operations+row.Errors == 0 {
			continue
		}
		row.Trial, row.Op = trial, k.op()
		r.Rows = append(r.Rows, row)
		all.of(0).Merge(t.of(k))
		all.errors[0], all.missing[0], all.wrong[0] = all.errors[0]+t.errors[k], all.missing[0]+t.missing[k], all.wrong[0]+t.wrong[k]
		done++
	}
	if done > 1 {
		row := all.row(0, elapsed)
		row.Trial, row.Op = trial, allOps
		r.Rows = append(r.Rows, row)
	}
}

// allOps is the Op of rows for several commands together.
const allOps = "all"

// row is what was counted of one kind.
func (t *tally) row(k kind, elapsed time.Duration) Row {
	row := Row{Operations: t.answers(k), Errors: t.errors[k], Missing: t.missing[k], Wrong: t.wrong[k], Seconds: elapsed.Seconds()}
	if h := t.latency[k]; h != nil {
		row.P50, row.P99, row.P999 = float64(h.ValueAtQuantile(50)), float64(h.ValueAtQuantile(99)), float64(h.ValueAtQuantile(99.9))
		row.Max = float64(h.Max())
	}
	if elapsed > 0 {
		row.Throughput = float64(row.Operations) / elapsed.Seconds()
	}
	return row
}

// summarize fills the summary.
func (r *Report) summarize() {
	ops := make([]string, 0, kinds+1)
	for k := range kinds {
		ops = append(ops, k.op())
	}
	for _, op := range append(ops, allOps) {
		var rate, p50, p99, p999, most []float64
		for _, row := range r.Rows {
			if row.Op == op {
				rate, most = append(rate, row.Throughput), append(most, row.Max)
				p50, p99, p999 = append(p50, row.P50), append(p99, row.P99), append(p999, row.P999)
			}
		}
		if len(rate) > 0 {
			r.Summary = append(r.Summary, Summary{op, spread(rate), spread(p50), spread(p99), spread(p999), spread(most)})
		}
	}
}

// Total returns how many answers were errors, missing and wrong.
func (r *Report) Total() (errors, missing, wrong int64) {
	for _, row := range r.Rows {
		if row.Op != allOps {
			errors, missing, wrong = errors+row.Errors, missing+row.Missing, wrong+row.Wrong
		}
	}
	return errors, missing, wrong
}
