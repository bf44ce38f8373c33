package session

import (
	"runtime/metrics"

	"github.com/quolldb/quoll/internal/resp"
)

// memoryStats is MEMORY STATS: what this process knows of its memory, under Redis' names.
func memoryStats(s *Session, dst []byte, _ [][]byte) []byte {
	samples := []metrics.Sample{
		{Name: "/memory/classes/heap/objects:bytes"},
		{Name: "/memory/classes/total:bytes"},
		{Name: "/memory/classes/heap/released:bytes"},
		{Name: "/memory/classes/heap/unused:bytes"},
	}
	metrics.Read(samples)
	used := samples[0].Value.Uint64()
	mapped := samples[1].Value.Uint64() - samples[2].Value.Uint64()
	active := used + samples[3].Value.Uint64()
	keys := int64(0)
	if sizes, err := s.service.cluster.DBSizes(s.conn.Server().Context()); err == nil {
		for _, n := range sizes {
			keys += n
		}
	}
	numbers := []struct {
		name string
		n    int64
	}{
		{"total.allocated", int64(used)},
		{"replication.backlog", 0},
		{"clients.slaves", 0},
		{"clients.normal", s.conn.Server().Held()},
		{"cluster.links", 0},
		{"aof.buffer", 0},
		{"lua.caches", s.service.scripts.held()},
		{"overhead.total", int64(used)},
		{"keys.count", keys},
		{"keys.bytes-per-key", 0},
		{"dataset.bytes", 0},
		{"allocator.allocated", int64(used)},
		{"allocator.active", int64(active)},
		{"allocator.resident", int64(mapped)},
		{"allocator-fragmentation.bytes", int64(active - used)},
		{"fragmentation.bytes", int64(mapped) - int64(used)},
	}
	ratios := []struct {
		name string
		f    float64
	}{
		{"dataset.percentage", 0},
		{"allocator-fragmentation.ratio", float64(active) / float64(used)},
		{"fragmentation", float64(mapped) / float64(used)},
	}
	dst = resp.AppendMap(dst, len(numbers)+len(ratios), s.resp3)
	for _, field := range numbers {
		dst = resp.AppendInt(resp.AppendBulk(dst, field.name), field.n)
	}
	for _, field := range ratios {
		dst = resp.AppendDouble(resp.AppendBulk(dst, field.name), field.f, s.resp3)
	}
	return dst
}
