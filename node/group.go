package node

import (
	"fmt"

	"github.com/quolldb/quoll/node/register"
	"github.com/quolldb/quoll/ring"
)

// Most of the time that an operation takes in memory is spent waiting for it: its
// slot, its page and its key are somewhere else than those of the operation before. So
// operations are executed in groups: the locks of all of them are taken, everything they will touch
// is asked for at once, so that the processor waits for many lines of memory at the same time, and then
// they are executed one after the other.

// groupSize is how many operations a group has at most.
const groupSize = 16

// group is a group of operations on slots and keys.
type group struct {
	n       int
	slots   [groupSize]uint16
	keys    [groupSize][]byte
	locked  [groupSize]uint8 // stripes, ascending
	stripes int
	sink    uint64
}

// prefetcher is what an engine may offer: to bring near what Get of the keys will
// touch, of all of them at the same time. The caller serialises it as Get. The
// result means nothing.
type prefetcher interface {
	Prefetch(slots []uint16, keys [][]byte) uint64
}

// add adds an operation and reports whether the group is full.
func (g *group) add(slot uint16, key []byte) bool {
	g.slots[g.n], g.keys[g.n] = slot%ring.Slots, key
	g.n++
	return g.n == groupSize
}

// lockGroup locks the stripes of all operations, in ascending order, and brings near
// what they will touch. What their homes send goes to out.
func (n *Node) lockGroup(g *group, out *outbox) {
	g.stripes = 0
	out.full = n.full()
	for _, slot := range g.slots[:g.n] {
		g.insert(uint8(slot % stripes))
	}
	for _, i := range g.locked[:g.stripes] {
		s := &n.stripes[i]
		s.mu.Lock()
		s.out = out
	}
	var near [groupSize]*slot
	for i, number := range g.slots[:g.n] {
		near[i] = n.stripes[number%stripes].slots[number/stripes]
	}
	for _, sl := range near[:g.n] {
		if sl != nil {
			g.sink += sl.acceptor.Touch() + sl.home.Touch()
		}
	}
	if n.prefetch != nil {
		g.sink += n.prefetch.Prefetch(g.slots[:g.n], g.keys[:g.n])
	}
}

// insert keeps locked sorted and without repetition.
func (g *group) insert(stripe uint8) {
	i := g.stripes
	for ; i > 0 && g.locked[i-1] >= stripe; i-- {
		if g.locked[i-1] == stripe {
			return
		}
	}
	copy(g.locked[i+1:g.stripes+1], g.locked[i:g.stripes])
	g.locked[i] = stripe
	g.stripes++
}

// unlockGroup ends a group. It is deferred: after a panic nobody can say what state
// the slots are in, so the node does not vote any more, and the panic goes on.
func (n *Node) unlockGroup(g *group) {
	p := recover()
	if p != nil {
		n.storageFailed(fmt.Errorf("panic in the replication protocol, please report it: %v", p))
	}
	for _, i := range g.locked[:g.stripes] {
		n.stripes[i].unlock()
	}
	clear(g.keys[:g.n])
	g.n = 0
	if p != nil {
		panic(p)
	}
}

// handleReply hands a replica's reply to the home that asked. The slot's stripe is
// locked.
func (n *Node) handleReply(m *register.Message) {
	st := &n.stripes[m.Slot%stripes]
	if sl := st.slots[m.Slot/stripes]; sl != nil && sl.err == nil {
		sl.home.HandleReply(m)
		st.touched(m.Slot, sl)
	}
}
