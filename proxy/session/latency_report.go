package session

import (
	"fmt"
	"strings"
	"time"
)

// What LATENCY DOCTOR says, in Redis' words as far as they are true of a proxy.
const (
	doctorOff = "I'm sorry, Dave, I can't do that. Latency monitoring is disabled in this Quoll proxy. You may use \"CONFIG SET latency-monitor-threshold <milliseconds>.\" in order " +
		"to enable it.\n"
	doctorQuiet = "Dave, no latency spike was observed during the lifetime of this Quoll proxy, not in the slightest bit. I honestly think you ought to sit down calmly, take a stress " +
		"pill, and think things over.\n"
	doctorBegin  = "Dave, I have observed latency spikes in this Quoll proxy. You don't mind talking about it, do you Dave?\n\n"
	doctorEvent  = "%d. %s: %d latency spikes (average %dms, mean deviation %dms, period %.2f sec). Worst all time event %dms.\n"
	doctorAdvice = "\nI have a few advices for you:\n\n"
	adviceEnable = "- There are latency issues with potentially slow commands you are using. Try to enable the Slow Log using the command 'CONFIG SET slowlog-log-slower-than %d'. If " +
		"the Slow log is disabled the proxy is not able to log slow commands execution for you.\n"
	adviceTune = "- Your current Slow Log configuration only logs events that are slower than your configured latency monitor threshold. Please use 'CONFIG SET " +
		"slowlog-log-slower-than %d'.\n"
	adviceInspect = "- Check your Slow Log to understand what are the commands you are running which are too slow to execute. Please check https://redis.io/commands/slowlog for " +
		"more information.\n"
	adviceCluster = "- The time of a command is that of the nodes and of the network, too. Look at 'quoll ring status' and at the metrics of the nodes.\n"
)

// diagnosis is the report of LATENCY DOCTOR.
func diagnosis(events []latencyEvent, threshold, slowerThan int64, now time.Time) string {
	switch {
	case len(events) == 0 && threshold == 0:
		return doctorOff
	case len(events) == 0:
		return doctorQuiet
	}
	var report strings.Builder
	report.WriteString(doctorBegin)
	commands := false
	for i, e := range events {
		average, deviation := e.spread()
		period := max(now.Unix()-e.samples[0].at, 1)
		fmt.Fprintf(&report, doctorEvent, i+1, e.name, len(e.samples), average, deviation, float64(period)/float64(len(e.samples)), e.max)
		commands = commands || e.name == eventCommand
	}
	report.WriteString(doctorAdvice)
	if commands {
		switch {
		case slowerThan < 0:
			fmt.Fprintf(&report, adviceEnable, threshold*1000)
		case slowerThan/1000 > threshold:
			fmt.Fprintf(&report, adviceTune, threshold*1000)
		}
		report.WriteString(adviceInspect)
	}
	report.WriteString(adviceCluster)
	return report.String()
}

// spread returns the average of the samples, and how far they are from it on average.
func (e *latencyEvent) spread() (average, deviation int64) {
	n := int64(len(e.samples))
	for _, s := range e.samples {
		average += s.took
	}
	average /= n
	for _, s := range e.samples {
		deviation += max(average-s.took, s.took-average)
	}
	return average, deviation / n
}

const graphColumns, graphRows = 80, 4

// graph is what LATENCY GRAPH shows of an event.
func (e *latencyEvent) graph(now time.Time) string {
	low, high := e.samples[0].took, e.samples[0].took
	for _, s := range e.samples {
		low, high = min(low, s.took), max(high, s.took)
	}
	var graph strings.Builder
	fmt.Fprintf(&graph, "%s - high %d ms, low %d ms (all time high %d ms)\n%s\n", e.name, high, low, e.max, strings.Repeat("-", graphColumns))
	for from := 0; from < len(e.samples); from += graphColumns {
		if from > 0 {
			graph.WriteString("\n")
		}
		drawSamples(&graph, e.samples[from:min(from+graphColumns, len(e.samples))], low, high, now)
	}
	return graph.String()
}

// drawSamples draws samples as columns, and below each how long ago it was.
func drawSamples(graph *strings.Builder, samples []latencySample, low, high int64, now time.Time) {
	const steps = 3 * graphRows
	span := max(high-low, 1)
	for row := range graphRows {
		for _, s := range samples {
			step := min(int((s.took-low)*steps/span), steps-1)
			switch at := step - 3*(graphRows-row-1); {
			case at < 0:
				graph.WriteByte(' ')
			case at < 3:
				graph.WriteByte("_o#"[at])
			default:
				graph.WriteByte('|')
			}
		}
		graph.WriteByte('\n')
	}
	graph.WriteString(strings.Repeat(" ", len(samples)) + "\n")
	for row, more := 0, true; more; row++ {
		more = false
		line := make([]byte, len(samples))
		for i, s := range samples {
			line[i] = ' '
			if label := ago(now.Unix() - s.at); row < len(label) {
				line[i], more = label[row], true
			}
		}
		if more {
			graph.Write(append(line, '\n'))
		}
	}
}

// ago is how long ago something was.
func ago(seconds int64) string {
	switch {
	case seconds < 60:
		return fmt.Sprintf("%ds", seconds)
	case seconds < 3600:
		return fmt.Sprintf("%dm", seconds/60)
	case seconds < 24*3600:
		return fmt.Sprintf("%dh", seconds/3600)
	}
	return fmt.Sprintf("%dd", seconds/(24*3600))
}
