package session

import (
	"fmt"
	"time"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
)

// latencyCommand is LATENCY, https://redis.io/commands/latency/: of commands of the proxy's clients.
var latencyCommand = container{"LATENCY", []subcommand{
	{"DOCTOR", 2, latencyDoctor, []string{"DOCTOR", "Return a human readable latency analysis report."}},
	{"GRAPH", 3, latencyGraph, []string{"GRAPH <event>", "Return an ASCII latency graph for the <event> class."}},
	{"HISTORY", 3, latencyHistory, []string{"HISTORY <event>", "Return time-latency samples for the <event> class."}},
	{"LATEST", 2, latencyLatest, []string{"LATEST", "Return the latest latency samples for all events."}},
	{"RESET", -2, latencyReset, []string{
		"RESET [<event> ...]", "Reset latency data of one or more <event> classes.", "(default: reset all data for all event classes)",
	}},
	{"HISTOGRAM", -2, latencyHistogram, []string{
		"HISTOGRAM [COMMAND ...]", "Return a cumulative distribution of latencies in the format of a histogram for the specified command names.",
		"If no commands are specified then all histograms are replied.",
	}},
}}

func latencyDoctor(s *Session, dst []byte, _ [][]byte) []byte {
	l := &s.service.look
	slowerThan, _ := l.slowlog.limits()
	return resp.AppendVerbatim(dst, diagnosis(l.latency.all(), l.latency.limit(), slowerThan, time.Now()), s.resp3)
}

// latencyGraph is LATENCY GRAPH event.
func latencyGraph(s *Session, dst []byte, args [][]byte) []byte {
	event := s.service.look.latency.event(args[2])
	if len(event.samples) == 0 {
		return route.AppendReply(dst, route.Refuse(fmt.Sprintf("ERR No samples available for event '%s'", shown(args[2]))))
	}
	return resp.AppendVerbatim(dst, event.graph(time.Now()), s.resp3)
}

// latencyHistory is LATENCY HISTORY event.
func latencyHistory(s *Session, dst []byte, args [][]byte) []byte {
	event := s.service.look.latency.event(args[2])
	dst = resp.AppendArray(dst, len(event.samples))
	for _, sample := range event.samples {
		dst = resp.AppendInt(resp.AppendInt(resp.AppendArray(dst, 2), sample.at), sample.took)
	}
	return dst
}

func latencyLatest(s *Session, dst []byte, _ [][]byte) []byte {
	events := s.service.look.latency.all()
	dst = resp.AppendArray(dst, len(events))
	for _, e := range events {
		last := e.samples[len(e.samples)-1]
		dst = resp.AppendBulk(resp.AppendArray(dst, 4), e.name)
		dst = resp.AppendInt(resp.AppendInt(resp.AppendInt(dst, last.at), last.took), e.max)
	}
	return dst
}

// latencyReset is LATENCY RESET [event ...].
func latencyReset(s *Session, dst []byte, args [][]byte) []byte {
	return resp.AppendInt(dst, int64(s.service.look.latency.reset(args[2:])))
}

// latencyHistogram is LATENCY HISTOGRAM [command ...]. As in Redis a container is shown with its subcommands, and a name that there is not is left out.
func latencyHistogram(s *Session, dst []byte, args [][]byte) []byte {
	commands := command.Supported()
	if len(args) > 2 {
		commands = nil
		for _, name := range args[2:] {
			if cmd := lookupFull(name); cmd != nil {
				commands = append(commands, cmd)
			}
		}
	}
	var list []countedCommand
	for _, cmd := range commands {
		for _, c := range s.service.stats.countedOf(cmd) {
			if c.stats.Calls() > 0 {
				list = append(list, c)
			}
		}
	}
	dst = resp.AppendMap(dst, len(list), s.resp3)
	for _, c := range list {
		micros, calls := c.stats.spread.upTo()
		if len(calls) == 0 { // CONFIG RESETSTAT was faster
			micros, calls = []int64{0}, []uint64{0}
		}
		dst = resp.AppendMap(resp.AppendBulk(dst, c.cmd.Name), 2, s.resp3)
		dst = resp.AppendInt(resp.AppendBulk(dst, "calls"), int64(calls[len(calls)-1]))
		dst = resp.AppendMap(resp.AppendBulk(dst, "histogram_usec"), len(calls), s.resp3)
		for i := range calls {
			dst = resp.AppendInt(resp.AppendInt(dst, micros[i]), int64(calls[i]))
		}
	}
	return dst
}
