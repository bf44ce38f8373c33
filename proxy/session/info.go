package session

import (
	"fmt"
	"net"
	"os"
	"runtime"
	"runtime/metrics"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/quolldb/quoll/internal/resp"
)

// infoField is a line of INFO.
type infoField struct{ name, value string }

// infoSection is a section of INFO. extra ones are shown only when asked for, by
// name or with "all" or "everything".
type infoSection struct {
	name   string
	extra  bool
	fields func(s *Session) []infoField
}

// infoSections are in Redis' order, https://redis.io/commands/info/. The fields are
// those that client libraries and monitoring read; all of them are of this proxy
// alone, except the keyspace, which is the cluster's.
var infoSections = []infoSection{
	{"Server", false, infoServer},
	{"Clients", false, infoClients},
	{"Memory", false, memoryFields},
	{"Persistence", false, func(s *Session) []infoField {
		loading := "0"
		if s.service.cluster.Loading() != nil {
			loading = "1"
		}
		return []infoField{{"loading", loading}, {"rdb_changes_since_last_save", "0"}, {"rdb_bgsave_in_progress", "0"}, {"aof_enabled", "0"}}
	}},
	{"Stats", false, infoStats},
	{"Replication", false, infoReplication},
	{"CPU", false, func(*Session) []infoField { return cpuFields() }},
	{"Modules", false, func(*Session) []infoField { return nil }},
	{"Commandstats", true, infoCommandStats},
	{"Errorstats", false, infoErrorStats},
	{"Latencystats", true, infoLatencyStats},
	{"Cluster", false, func(s *Session) []infoField { return []infoField{{"cluster_enabled", s.service.ofMode("0", "1")}} }},
	{"Keyspace", false, infoKeyspace},
}

// runInfo is INFO [section ...].
func runInfo(s *Session, dst []byte, args [][]byte) []byte {
	var text strings.Builder
	for _, section := range infoSections {
		if !section.wanted(args[1:]) {
			continue
		}
		if text.Len() > 0 {
			text.WriteString("\r\n")
		}
		fmt.Fprintf(&text, "# %s\r\n", section.name)
		for _, field := range section.fields(s) {
			fmt.Fprintf(&text, "%s:%s\r\n", field.name, field.value)
		}
	}
	return resp.AppendVerbatim(dst, text.String(), s.resp3)
}

func (i *infoSection) wanted(names [][]byte) bool {
	if len(names) == 0 {
		return !i.extra
	}
	return slices.ContainsFunc(names, func(name []byte) bool {
		return is(name, i.name) || is(name, "all") || is(name, "everything") || is(name, "default") && !i.extra
	})
}

func infoServer(s *Session) []infoField {
	uptime := time.Since(s.service.started)
	_, port, _ := net.SplitHostPort(s.conn.LocalAddr().String())
	return []infoField{
		{"redis_version", redisVersion},
		{"quoll_version", s.service.cfg.Version},
		{"redis_mode", s.service.ofMode("standalone", "cluster")},
		{"os", runtime.GOOS + " " + runtime.GOARCH},
		{"arch_bits", strconv.Itoa(strconv.IntSize)},
		{"process_id", strconv.Itoa(os.Getpid())},
		{"run_id", s.service.runID},
		{"tcp_port", port},
		{"server_time_usec", strconv.FormatInt(time.Now().UnixMicro(), 10)},
		{"uptime_in_seconds", strconv.Itoa(int(uptime.Seconds()))},
		{"uptime_in_days", strconv.Itoa(int(uptime.Hours() / 24))},
	}
}

// memoryFields describes the memory of this process, and how much the nodes have for data.
func memoryFields(s *Session) []infoField {
	samples := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
	}
	metrics.Read(samples)
	used := samples[0].Value.Uint64()
	mapped := samples[1].Value.Uint64() - samples[2].Value.Uint64()
	fields := []infoField{
		{"used_memory", strconv.FormatUint(used, 10)},
		{"used_memory_human", fmt.Sprintf("%.2fM", float64(used)/(1<<20))},
		{"used_memory_rss", strconv.FormatUint(mapped, 10)},
		{"used_memory_rss_human", fmt.Sprintf("%.2fM", float64(mapped)/(1<<20))},
	}
	return append(append(fields, evictionFields(s)...), infoField{"mem_fragmentation_ratio", fmt.Sprintf("%.2f", float64(mapped)/float64(used))},
		infoField{"mem_allocator", runtime.Version()})
}

// cpuFields is the processor time of this process.
func cpuFields() []infoField {
	var usage syscall.Rusage
	if err := syscall.Getrusage(syscall.RUSAGE_SELF, &usage); err != nil {
		return nil
	}
	seconds := func(t syscall.Timeval) string { return fmt.Sprintf("%d.%06d", t.Sec, t.Usec) }
	return []infoField{
		{"used_cpu_sys", seconds(usage.Stime)},
		{"used_cpu_user", seconds(usage.Utime)},
	}
}

// infoKeyspace counts the cluster's keys. How many of them expire is not counted;
// 0 is there because programs expect the field. When the cluster cannot be asked
// the section is empty.
func infoKeyspace(s *Session) (fields []infoField) {
	sizes, err := s.service.cluster.DBSizes(s.conn.Server().Context())
	if err != nil {
		return nil
	}
	for number, keys := range sizes {
		if keys > 0 {
			fields = append(fields, infoField{fmt.Sprintf("db%d", number), fmt.Sprintf("keys=%d,expires=0,avg_ttl=0", keys)})
		}
	}
	return fields
}
