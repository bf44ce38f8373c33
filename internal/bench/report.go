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
}

// Row is one operation in one trial. Latencies are in microseconds.
type Row struct {
	Trial int `json:"trial"`
	// Op is SET, GET, or all for both.
	Op string `json:"op"`
	// Operations were answered without an error, Errors with one. Among the former are Missing ones, which found no value, and Wrong ones, which
	// found another one than was written (with Options.Check).
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
	return Echo{
		Addresses: o.Addresses, Workload: o.Workload, Distribution: o.Distribution, Connections: o.Connections, Depth: o.Depth,
		KeySize: o.KeySize, ValueSize: o.ValueSize, Keys: o.Keys, SetFraction: o.SetFraction, Wait: o.Wait, Trials: o.Trials, Check: o.Check,
	}
}

// add adds the rows of a phase.
func (r *Report) add(trial int, t *tally, elapsed time.Duration) {
	if t.lastError != "" {
		r.LastError = t.lastError
	}
	done := 0
	for k, op := range [kinds]string{"SET", "GET"} {
		if row := t.row(kind(k), elapsed); row.Operations+row.Errors > 0 {
			row.Trial, row.Op = trial, op
			r.Rows = append(r.Rows, row)
			done++
		}
	}
	if done == int(kinds) {
		for k := range kinds {
			if k > 0 {
				t.latency[0].Merge(t.latency[k])
				t.errors[0], t.missing[0], t.wrong[0] = t.errors[0]+t.errors[k], t.missing[0]+t.missing[k], t.wrong[0]+t.wrong[k]
			}
		}
		row := t.row(0, elapsed)
		row.Trial, row.Op = trial, "all"
		r.Rows = append(r.Rows, row)
	}
}

// row is what was counted of one kind.
func (t *tally) row(k kind, elapsed time.Duration) Row {
	h := t.latency[k]
	row := Row{
		Operations: h.TotalCount(), Errors: t.errors[k], Missing: t.missing[k], Wrong: t.wrong[k], Seconds: elapsed.Seconds(),
		P50: float64(h.ValueAtQuantile(50)), P99: float64(h.ValueAtQuantile(99)), P999: float64(h.ValueAtQuantile(99.9)), Max: float64(h.Max()),
	}
	if elapsed > 0 {
		row.Throughput = float64(row.Operations) / elapsed.Seconds()
	}
	return row
}

// summarize fills the summary.
func (r *Report) summarize() {
	for _, op := range []string{"SET", "GET", "all"} {
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
		if row.Op != "all" {
			errors, missing, wrong = errors+row.Errors, missing+row.Missing, wrong+row.Wrong
		}
	}
	return errors, missing, wrong
}
