package memory

import (
	"github.com/quolldb/quoll/internal/prefetch"
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
	for _, number := range numbers[:n] {
		prefetch.Of(&e.slots[number%engine.Slots])
	}
	for i, number := range numbers[:n] {
		if keys[i] == nil {
			continue
		}
		if s, err := e.lookup(number); err == nil && s != nil {
			s.prefetch(uses[i])
			slots[i], tables[i], positions[i] = s, &s.table, engine.PositionOf(keys[i])
		}
	}
	for i, s := range slots[:n] {
		if s != nil && uses[i].Writes() {
			s.counters.Prefetch(positions[i])
		}
	}
	table.Prefetch(tables[:n], positions[:n], uses)
}
