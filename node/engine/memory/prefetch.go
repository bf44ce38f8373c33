package memory

import "github.com/quolldb/quoll/node/engine/table"

// Prefetch brings near what Get of the keys will touch, of the first table.PrefetchMax of
// them: see table.Prefetch. A nil key asks for its slot only. The caller serialises it
// as Get.
func (e *Engine) Prefetch(slots []uint16, keys [][]byte) uint64 {
	n := min(len(slots), table.PrefetchMax)
	var tables [table.PrefetchMax]*table.Table
	for i, number := range slots[:n] {
		if s, err := e.lookup(number); err == nil && s != nil && keys[i] != nil {
			tables[i] = &s.table
		}
	}
	return table.Prefetch(tables[:n], keys[:n])
}
