package session

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol"
)

func infoClients(s *Session) []infoField {
	return []infoField{
		{"connected_clients", decimal(s.conn.Server().Stats().Clients.Load())},
		{"cluster_connections", "0"},
		{"maxclients", strconv.Itoa(s.conn.Server().Config().MaxClients)},
		{"blocked_clients", decimal(s.service.look.pause.waiting.Load() + int64(s.service.waiting.count()))},
		{"tracking_clients", decimal(s.clientsThatTrack())},
		{"clients_in_timeout_table", "0"},
	}
}

func infoStats(s *Session) []infoField {
	stats, clients := &s.service.stats, s.conn.Server().Stats()
	var failed uint64
	for _, n := range stats.Errors() {
		failed += n
	}
	keys, items := s.service.tracked.count()
	count := func(n uint64) string { return strconv.FormatUint(n, 10) }
	return []infoField{
		{"total_connections_received", count(clients.Accepted.Load())},
		{"total_commands_processed", count(stats.Commands.Load())},
		{"total_net_input_bytes", count(clients.BytesIn.Load())},
		{"total_net_output_bytes", count(clients.BytesOut.Load())},
		{"rejected_connections", count(clients.Rejected.Load())},
		{"sync_full", "0"},
		{"sync_partial_ok", "0"},
		{"sync_partial_err", "0"},
		{"evicted_keys", count(s.service.memory().Evicted)},
		{"evicted_clients", count(clients.Evicted.Load())},
		{"client_output_buffer_limit_disconnections", count(clients.SlowReaders.Load() + clients.OutputExceeded.Load())},
		{"tracking_total_keys", strconv.Itoa(keys)},
		{"tracking_total_items", strconv.Itoa(items)},
		{"tracking_total_prefixes", strconv.Itoa(s.service.broadcasts.count())},
		{"pubsub_channels", strconv.Itoa(s.service.subscribers.names(protocol.OfChannel))},
		{"pubsub_patterns", strconv.Itoa(s.service.subscribers.names(protocol.OfPattern))},
		{"pubsubshard_channels", strconv.Itoa(s.service.subscribers.names(protocol.OfShardChannel))},
		{"latest_fork_usec", "0"},
		{"total_forks", "0"},
		{"total_error_replies", count(failed)},
	}
}

// infoCommandStats says how often each command was called, and how long that took. Subcommands are counted each for itself.
func infoCommandStats(s *Session) (fields []infoField) {
	for _, cmd := range command.Supported() {
		for _, c := range s.service.stats.countedOf(cmd) {
			calls := c.stats.Calls()
			micros, each := float64(c.stats.Nanos.Load())/1000, 0.0
			if calls > 0 {
				each = micros / float64(calls)
			}
			fields = append(fields, infoField{"cmdstat_" + c.cmd.Name, fmt.Sprintf(
				"calls=%d,usec=%.0f,usec_per_call=%.2f,rejected_calls=%d,failed_calls=%d", calls, micros, each, c.stats.Rejected.Load(), c.stats.Failed.Load())})
		}
	}
	return fields
}

func infoErrorStats(s *Session) (fields []infoField) {
	words := s.service.stats.Errors()
	for _, word := range slices.Sorted(maps.Keys(words)) {
		fields = append(fields, infoField{"errorstat_" + word, fmt.Sprintf("count=%d", words[word])})
	}
	return fields
}

// infoLatencyStats says how long calls took: the ends of the classes in which those of the percentiles are.
func infoLatencyStats(s *Session) (fields []infoField) {
	percentiles := *s.service.config.percentiles.Load()
	if s.service.config.untracked.Load() || len(percentiles) == 0 {
		return nil
	}
	for _, cmd := range command.Supported() {
		for _, c := range s.service.stats.countedOf(cmd) {
			if c.stats.Calls() == 0 {
				continue
			}
			text := ""
			for i, p := range percentiles {
				if i > 0 {
					text += ","
				}
				text += fmt.Sprintf("p%s=%.3f", strconv.FormatFloat(p, 'f', -1, 64), float64(c.stats.spread.percentile(p).Nanoseconds())/1000)
			}
			fields = append(fields, infoField{"latency_percentiles_usec_" + c.cmd.Name, text})
		}
	}
	return fields
}
