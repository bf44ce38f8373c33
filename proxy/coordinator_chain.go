package proxy

import (
	"bytes"
	"hash/maphash"
)

// chainTable finds the operations of a batch that name the same key. Where one of
// them is a write, they go through the home in their order: within one batch,
// commands on a key take effect as the client sent them.
type chainTable struct {
	heads []int32 // by hash: last operation seen, +1
	seed  maphash.Seed
	ready bool
}

// link sets before and viaHome.
func (c *chainTable) link(ops []Op, states []opState) {
	if !c.ready {
		c.seed, c.ready = maphash.MakeSeed(), true
	}
	size := 16
	for size < 2*len(ops) {
		size *= 2
	}
	if cap(c.heads) < size {
		c.heads = make([]int32, size)
	}
	c.heads = c.heads[:size]
	clear(c.heads)
	for i := range ops {
		if ops[i].keyless {
			continue
		}
		key := ops[i].key()
		at := int(maphash.Bytes(c.seed, key)) & (size - 1)
		for c.heads[at] != 0 && !bytes.Equal(ops[c.heads[at]-1].key(), key) {
			at = (at + 1) & (size - 1)
		}
		states[i].before = c.heads[at] - 1
		c.heads[at] = int32(i) + 1
	}
	for i := range states { // a write makes what follows on its key go through the home,
		if before := states[i].before; before >= 0 && states[before].viaHome {
			states[i].viaHome = true
		}
	}
	for i := len(states) - 1; i >= 0; i-- { // and what precedes
		if before := states[i].before; before >= 0 && states[i].viaHome {
			states[before].viaHome = true
		}
	}
}
