package session

import (
	"bytes"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/internal/scan"
	"github.com/quolldb/quoll/proxy/route"
)

var errConfigSet = route.Refuse("ERR CONFIG SET is not supported: start quoll with other flags, or change its configuration file, instead")

// configCommand is CONFIG, https://redis.io/commands/config/.
var configCommand = container{"CONFIG", []subcommand{
	{"GET", -3, configGet, []string{"GET <pattern>", "Return parameters matching the glob-like <pattern> and their values."}},
	{"SET", -4, never(errConfigSet), nil},
	{"RESETSTAT", 2, configResetStat, []string{"RESETSTAT", "Reset statistics reported by the INFO command."}},
	{"REWRITE", 2, never(route.Refuse("ERR The server is running without a config file")), nil},
}}

// parameter is one of Redis' configuration parameters.
type parameter struct{ name, value string }

// parametersOf returns those of Redis' parameters that are true here, sorted by name.
func parametersOf(s *Session) []parameter {
	clients := s.conn.Server().Config()
	limit := strconv.Itoa(s.service.cfg.OutputLimit)
	bulk := s.service.cfg.Limits.MaxBulk
	if bulk == 0 {
		bulk = resp.DefaultMaxBulk
	}
	return []parameter{
		{"appendonly", "no"},
		{"client-output-buffer-limit", fmt.Sprintf("normal %s 0 0", limit)},
		{"cluster-enabled", "no"},
		{"databases", strconv.Itoa(database.Count)},
		{"latency-monitor-threshold", "0"},
		{"maxclients", strconv.Itoa(clients.MaxClients)},
		{"maxmemory", "0"},
		{"maxmemory-clients", strconv.FormatInt(clients.ClientMemory, 10)},
		{"maxmemory-policy", "noeviction"},
		{"notify-keyspace-events", ""},
		{"proto-max-bulk-len", strconv.Itoa(bulk)},
		{"save", ""},
		{"slowlog-log-slower-than", "-1"},
		{"slowlog-max-len", "0"},
		{"timeout", strconv.Itoa(int(clients.IdleTimeout.Seconds()))},
	}
}

func configGet(s *Session, dst []byte, args [][]byte) []byte {
	var found []parameter
	for _, pattern := range args[2:] {
		for _, p := range parametersOf(s) {
			if !bytes.ContainsAny(pattern, "[*?") { // a name, which is shown as it was written
				if !is(pattern, p.name) {
					continue
				}
				p.name = string(pattern)
			} else if !scan.Match(bytes.ToLower(pattern), []byte(p.name)) {
				continue
			}
			if !slices.ContainsFunc(found, func(other parameter) bool { return strings.EqualFold(other.name, p.name) }) {
				found = append(found, p)
			}
		}
	}
	dst = resp.AppendMap(dst, len(found), s.resp3)
	for _, p := range found {
		dst = resp.AppendBulk(resp.AppendBulk(dst, p.name), p.value)
	}
	return dst
}

func configResetStat(s *Session, dst []byte, _ [][]byte) []byte {
	s.service.stats.reset()
	s.conn.Server().Stats().Reset()
	return append(dst, resp.OK...)
}
