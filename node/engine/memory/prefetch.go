package memory

import (
	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/engine/table"
)

// Prefetch brings near what Get of the keys will touch, or Put, of the first table.PrefetchMax of
// them: see table.Prefetch. A nil key asks for nothing. The caller serialises it as Get.
func (e *Engine) Prefetch(numbers []uint16, keys [][]byte, uses []engine.Use) {
	n := min(len(numbers), table.PrefetchMax)
	var (
		slots     [table.PrefetchMax]*slot
		tables    [table.PrefetchMax]*table.Table
		positions [table.PrefetchMax]engine.Position
	)
	for i, number := range numbers[:n] {
		if keys[i] == nil {
			continue
		}
		if s, err := e.lookup(number); err == nil && s != nil {
			slots[i] = s
			s.prefetch(uses[i])
		}
	}
	for i, s := range slots[:n] {
		if s != nil {
			positions[i] = engine.PositionOf(keys[i])
		}
	}
	for i, s := range slots[:n] {
		if s != nil {
			tables[i] = &s.table
			if uses[i] == engine.UseWrite {
				s.counters.Prefetch(positions[i])
			}
		}
	}
	table.Prefetch(tables[:n], positions[:n], uses)
}
