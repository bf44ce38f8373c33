package session

import (
	"context"
	"strconv"
	"sync"
	"time"

	"github.com/quolldb/quoll/internal/admin"
	"github.com/quolldb/quoll/internal/eviction"
)

// memoryFor is for how long it counts what nodes said of their memory: CONFIG GET * asks for it again and again.
const memoryFor = 200 * time.Millisecond

// nodesMemory is what nodes said last of their memory.
type nodesMemory struct {
	mu   sync.Mutex
	at   time.Time
	said admin.Memory
	any  bool // keeps its data in memory
}

// memory is how much memory the nodes have for data, and which keys go when they have more. Of nodes that cannot be asked nothing is known, as if there were no limit.
func (s *Service) memory() admin.Memory {
	m := &s.nodes
	m.mu.Lock()
	defer m.mu.Unlock()
	if time.Since(m.at) > memoryFor {
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		m.said, _ = s.cluster.Memory(ctx)
		m.at = time.Now()
		if m.any = m.said.Policy != ""; !m.any {
			d := eviction.DefaultSettings()
			m.said.Policy, m.said.Samples, m.said.LogFactor, m.said.DecayTime = d.Policy.String(), d.Samples, d.LogFactor, d.DecayTime
		}
	}
	return m.said
}

// inMemory reports whether any node that answers keeps its data in memory.
func (s *Service) inMemory() bool {
	s.memory()
	s.nodes.mu.Lock()
	defer s.nodes.mu.Unlock()
	return s.nodes.any
}

// forget has the nodes be asked again.
func (m *nodesMemory) forget() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.at = time.Time{}
}

// evictionFields are those of INFO memory that say when keys are evicted: what the data of a node take is the most of all nodes.
func evictionFields(s *Session) []infoField {
	m := s.service.memory()
	return []infoField{
		{"used_memory_dataset", strconv.FormatInt(m.Used, 10)},
		{"maxmemory", strconv.FormatInt(m.Limit, 10)},
		{"maxmemory_human", humanBytes(m.Limit)},
		{"maxmemory_policy", m.Policy},
	}
}

// humanBytes shows a number of bytes as Redis does.
func humanBytes(n int64) string {
	unit, at := float64(1), 0
	for ; at < 4 && float64(n) >= 1024*unit; at++ {
		unit *= 1024
	}
	if at == 0 {
		return strconv.FormatInt(n, 10) + "B"
	}
	return strconv.FormatFloat(float64(n)/unit, 'f', 2, 64) + "KMGT"[at-1:at]
}
