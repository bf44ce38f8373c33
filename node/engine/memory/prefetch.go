package memory

import "github.com/quolldb/quoll/node/engine"

// prefetchMax is how many keys are looked up at the same time.
const prefetchMax = 16

// Prefetch brings near what Get of the keys will touch. Each step reads one thing for
// every key before the next step: the processor waits for all of them together,
// where one Get after the other waits for each. A nil key asks for its slot only.
// The caller serialises it as Get. What it returns means nothing: it keeps the
// compiler from leaving out the reads.
func (e *Engine) Prefetch(slots []uint16, keys [][]byte) (sum uint64) {
	n := min(len(slots), prefetchMax)
	var (
		tables    [prefetchMax]*table
		pages     [prefetchMax]*page
		positions [prefetchMax]engine.Position
		entries   [prefetchMax]*entry
	)
	for i, number := range slots[:n] {
		if s, err := e.lookup(number); err == nil && s != nil && keys[i] != nil {
			tables[i] = &s.table
			positions[i] = engine.PositionOf(keys[i])
		}
	}
	for i, t := range tables[:n] {
		if t != nil && t.size > 0 {
			pages[i] = t.page(positions[i])
			sum += uint64(len(pages[i].places))
		}
	}
	for _, p := range pages[:n] {
		if p != nil && len(p.places) > 0 {
			sum += uint64(p.places[0])
		}
	}
	for i, p := range pages[:n] {
		if p == nil {
			continue
		}
		if at := p.first(positions[i]); at < len(p.entries) {
			entries[i] = &p.entries[at]
			sum += uint64(len(entries[i].key))
		}
	}
	for _, e := range entries[:n] {
		if e != nil && len(e.key) > 0 {
			sum += uint64(e.key[0])
		}
	}
	return sum
}
