package register

// group is batches that share a record: each is evaluated on what those before it leave, and nobody else gets between them, so that they are one batch to all others
// (B1). So a key that many batches want gets them all in one write.
type group struct {
	keys    []batchKey
	at      map[*keyState]int // in keys
	batches []*batch
	waiting []waiter
	size    int // of what it writes, in bytes
}

// What a group has at most, but for one that is a single batch.
const (
	groupBytes = 1 << 20
	groupKeys  = 1 << 10
)

// full reports whether nothing more fits into the record.
func (g *group) full() bool { return g.size >= groupBytes || len(g.keys) >= groupKeys }

// find returns what the group does to a key, nil if that is not one of its keys.
func (g *group) find(ks *keyState) *batchKey {
	if at, ok := g.at[ks]; ok {
		return &g.keys[at]
	}
	return nil
}

// writes reports whether a key is one that the group writes.
func (g *group) writes(ks *keyState) bool {
	k := g.find(ks)
	return k != nil && k.seq != 0
}

// join adds a batch that has been evaluated, and what that does to each of its keys.
func (g *group) join(one *batch, keys []batchKey, w waiter) {
	one.grouped = true
	g.batches, g.waiting = append(g.batches, one), append(g.waiting, w)
	if g.at == nil {
		g.at = make(map[*keyState]int)
	}
	for i, ks := range one.keys {
		k := g.find(ks)
		switch {
		case k == nil:
			g.at[ks] = len(g.keys)
			g.keys = append(g.keys, keys[i])
			g.size += len(keys[i].name)
		case keys[i].seq != 0: // the base stays the one that the first was evaluated on
			g.size -= k.state.Size()
			k.seq, k.state = keys[i].seq, keys[i].state
		}
		g.size += keys[i].state.Size()
	}
}
