package route

import (
	"bytes"
	"hash/maphash"

	"github.com/quolldb/quoll/internal/command"
)

// chainTable finds the operations of a part that name the same key, or the same slot if one of the part is of several keys of a slot. Where one of
// them is a write, they go through the home in their order: within one part,
// commands on a key take effect as the client sent them.
type chainTable struct {
	heads []int32 // by hash: last operation seen, +1
	seed  maphash.Seed
	ready bool
	list  []chain
}

// chain is where the operations on a key that is written are. Those that are ready
// are sent together, to one home; those that it refuses are sent again when it has answered all.
type chain struct {
	out    int32  // operations that the home has,
	round  uint32 // sent in this round,
	home   uint16 // to this member,
	except uint16 // see opState
	held   uint32 // the round in which one was held back
	passed int32  // the last operation that was executed, or may have been, -1 for none,
	wrote  int32  // and the last of these that is a write
}

func newChain() chain { return chain{passed: -1, wrote: -1} }

// reset forgets the chains of another batch.
func (c *chainTable) reset() { c.list = c.list[:0] }

// link finds the chains of a part, which are the operations from first on, and sets
// viaHome.
func (c *chainTable) link(ops []Op, states []opState, first int) {
	c.find(ops, states, first)
	part := states[first:]
	for i := range part { // a write makes what follows on its key go through the home,
		if before := part[i].before; before >= 0 && states[before].viaHome {
			part[i].viaHome = true
		}
	}
	for i := len(part) - 1; i >= 0; i-- { // and what precedes
		if before := part[i].before; before >= 0 && part[i].viaHome {
			states[before].viaHome = true
		}
	}
	for i := range part {
		st := &part[i]
		if st.before < 0 || !st.viaHome {
			continue
		}
		first := &states[st.before]
		if first.chain < 0 {
			first.chain = int32(len(c.list))
			c.list = append(c.list, newChain())
		}
		st.chain = first.chain
	}
}

// find sets before and after.
func (c *chainTable) find(ops []Op, states []opState, first int) {
	if !c.ready {
		c.seed, c.ready = maphash.MakeSeed(), true
	}
	size := 16
	for size < 2*(len(ops)-first) {
		size *= 2
	}
	if cap(c.heads) < size {
		c.heads = make([]int32, size)
	}
	c.heads = c.heads[:size]
	clear(c.heads)
	same, place := sameKey, c.placeOfKey
	if hasBatch(ops[first:]) {
		same, place = sameSlot, placeOfSlot
	}
	for i := first; i < len(ops); i++ {
		if ops[i].keyless {
			continue
		}
		at := place(&ops[i]) & (size - 1)
		for c.heads[at] != 0 && !same(&ops[c.heads[at]-1], &ops[i]) {
			at = (at + 1) & (size - 1)
		}
		if before := c.heads[at] - 1; before >= 0 {
			states[i].before, states[before].after = before, int32(i)
		}
		c.heads[at] = int32(i) + 1
	}
}

// hasBatch reports whether an operation is of several keys of its slot.
func hasBatch(ops []Op) bool {
	for i := range ops {
		if ops[i].Req.Op == command.OpBatch {
			return true
		}
	}
	return false
}

func sameKey(a, b *Op) bool { return bytes.Equal(a.key(), b.key()) }

func sameSlot(a, b *Op) bool { return a.slotOf() == b.slotOf() }

func (c *chainTable) placeOfKey(o *Op) int { return int(maphash.Bytes(c.seed, o.key())) }

func placeOfSlot(o *Op) int { return int(o.slotOf()) }

// chainOf returns the chain of an operation, nil if it is part of none.
func (s *batchState) chainOf(st *opState) *chain {
	if st.chain < 0 {
		return nil
	}
	return &s.chains.list[st.chain]
}

// turn reports whether an operation may be sent: nothing of its chain is at a home,
// unless it was sent there at this moment. It fails one that was overtaken by a write. Reads that have overtaken it are done again.
func (s *batchState) turn(st *opState) bool {
	c := s.chainOf(st)
	switch {
	case c == nil:
		return true
	case c.wrote > st.index && st.err == ErrOverloaded:
		s.fail(st, ErrOverloaded)
		return false
	case c.wrote > st.index:
		s.fail(st, errOvertaken)
		return false
	case c.out > 0 && c.round != s.round, c.held == s.round:
		s.blocked++
		return false
	case c.passed > st.index:
		s.reopen(st)
		c.passed = st.before
	}
	return true
}

// left notes that an operation is not at a home any more.
func (s *batchState) left(st *opState, executed bool) {
	c := s.chainOf(st)
	if c == nil || st.phase != opExecuting {
		return
	}
	c.out--
	if executed {
		c.passed = max(c.passed, st.index)
	}
	if executed && st.write {
		c.wrote = max(c.wrote, st.index)
	}
}
