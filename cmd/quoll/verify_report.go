package main

import (
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/quolldb/quoll/internal/verify"
)

// errViolated ends `verify` after a violation was printed.
var errViolated = errors.New("something was lost, stale or wrong: the server or cluster broke its promises")

// writeReport prints a report for people.
func writeReport(w io.Writer, r verify.Report) error {
	end := ""
	if r.Interrupted {
		end = " (interrupted)"
	}
	fmt.Fprintf(w, "Verified %s for %s%s with %s, run %s.\n\n",
		printable(strings.Join(r.Addresses, ", ")), r.Elapsed.Round(time.Second/10), end, plural(int64(r.Clients), "client"), r.Run)
	g := newGrid("lost", "stale", "wrong", "unknown", "refused", "operations", "rate", "p50", "p99")
	number := func(n int64) string { return strconv.FormatInt(n, 10) }
	g.add(number(int64(r.Lost)), number(int64(r.Stale)), number(int64(r.Wrong)), number(r.Unknown), number(r.Refused),
		number(r.Operations), fmt.Sprintf("%.0f/s", r.Rate), latency(r.P50), latency(r.P99))
	if err := g.write(w); err != nil {
		return err
	}
	if r.Transfers != nil {
		fmt.Fprintf(w, "\n%s\n", transfersOf(r))
	}
	if r.Queues != nil {
		fmt.Fprintf(w, "\n%s\n", queuesOf(r.Queues))
	}
	fmt.Fprintf(w, "\n%s\n", verdictOf(r))
	for _, finding := range r.Findings {
		fmt.Fprintf(w, "  %s\n", strings.ReplaceAll(strings.TrimSpace(finding.String()), "\n", "\n    "))
	}
	if r.LastError != "" {
		fmt.Fprintf(w, "The last error: %s\n", printable(r.LastError))
	}
	if r.Left > 0 {
		fmt.Fprintf(w, "%s could not be removed: they begin with %s%s:\n", plural(int64(r.Left), "key"), verify.Prefix, r.Run)
	}
	return nil
}

// transfersOf says how many transfers were acknowledged, by each way.
func transfersOf(r verify.Report) string {
	var total int64
	var each []string
	for _, way := range slices.Sorted(maps.Keys(r.Transfers)) {
		total += r.Transfers[way]
		each = append(each, fmt.Sprintf("%s %d", way, r.Transfers[way]))
	}
	return fmt.Sprintf("%s (%s); groups of accounts were read as a whole %d times.", plural(total, "transfer"), strings.Join(each, ", "), r.Readings)
}

// queuesOf says what was produced and consumed.
func queuesOf(q *verify.QueueReport) string {
	var each []string
	for _, by := range slices.Sorted(maps.Keys(q.Taken)) {
		each = append(each, fmt.Sprintf("%s %d", by, q.Taken[by]))
	}
	return fmt.Sprintf("%s: %s pushed; taken: %s; brought back or claimed: %d; explained by unknown outcomes: %d.",
		plural(int64(q.Queues), "queue"), plural(q.Pushed, "element"), strings.Join(each, ", "), q.Again, q.Excused)
}

// verdictOf says the result in a sentence or two.
func verdictOf(r verify.Report) string {
	text := "Nothing was lost, stale or wrong."
	if n := r.Lost + r.Stale + r.Wrong; n > 0 {
		text = "VIOLATED. What was found"
		if n > len(r.Findings) {
			text += fmt.Sprintf(", the first %d of %d", len(r.Findings), n)
		}
		text += ":"
	}
	if r.Undecided > 0 {
		text = fmt.Sprintf("Of %d histories %d could not be decided in time.\n", r.Histories, r.Undecided) + text
	}
	if r.Unread > 0 {
		text = fmt.Sprintf("%s could not be read back at the end: nothing is known about them.\n", plural(int64(r.Unread), "key")) + text
	}
	return text
}

// latency writes a duration with three digits.
func latency(d time.Duration) string {
	if d < time.Millisecond {
		return d.Round(time.Microsecond).String()
	}
	return d.Round(10 * time.Microsecond).String()
}
