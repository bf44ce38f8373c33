package table

import "github.com/quolldb/quoll/node/engine"

// PrefetchMax is how many keys Prefetch looks up at most.
const PrefetchMax = 16

// Prefetch brings near what Find of the keys will touch. Each step reads one thing for
// every key before the next step: the processor waits for all of them together,
// where one Find after the other waits for each. A nil table is left out. What it returns
// means nothing: it keeps the compiler from leaving out the reads.
func Prefetch(tables []*Table, keys [][]byte) (sum uint64) {
	n := min(len(tables), PrefetchMax)
	var (
		pages     [PrefetchMax]*page
		positions [PrefetchMax]engine.Position
		entries   [PrefetchMax]*entry
	)
	for i, t := range tables[:n] {
		if t != nil && t.size > 0 {
			positions[i] = engine.PositionOf(keys[i])
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
