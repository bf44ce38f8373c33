package node

import (
	"fmt"

	"github.com/quolldb/quoll/internal/prefetch"
	"github.com/quolldb/quoll/node/engine"
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
	uses    [groupSize]engine.Use
	homes   [groupSize]bool
	locked  [groupSize]uint8 // stripes, ascending
	stripes int
	out     *outbox // gathers what its homes send
}

// add adds an operation on a key and reports whether the group is full. home says whether the slot's home
// executes it.
func (g *group) add(slot uint16, key []byte, use engine.Use, home bool) bool {
	g.keys[g.n], g.uses[g.n], g.homes[g.n] = key, use, home
	return g.addSlot(slot)
}

func (g *group) addSlot(slot uint16) bool {
	g.slots[g.n] = slot % ring.Slots
	g.n++
	return g.n == groupSize
}

// lockGroup locks the stripes of all operations, in ascending order. What their homes send goes to out.
func (n *Node) lockGroup(g *group, out *outbox) {
	g.stripes, g.out = 0, out
	out.in.Full = n.full()
	for _, slot := range g.slots[:g.n] {
		g.insert(uint8(slot % stripes))
	}
	for _, i := range g.locked[:g.stripes] {
		s := &n.stripes[i]
		s.mu.Lock()
		s.out = out
	}
}

// prefetcher is what an engine may offer: to bring near what it will touch of keys, of all of them at the
// same time. The caller serialises it as Get.
type prefetcher interface {
	Prefetch(slots []uint16, keys [][]byte, uses []engine.Use)
}

// prefetchKeys brings near what a locked group of operations on keys will touch.
func (n *Node) prefetchKeys(g *group) {
	for i, number := range g.slots[:g.n] {
		if sl := n.stripes[number%stripes].slots[number/stripes]; sl != nil {
			prefetch.Of(&sl.err)
			sl.acceptor.Prefetch()
			if g.homes[i] {
				sl.home.Prefetch()
			}
		}
	}
	if n.prefetcher != nil {
		n.prefetcher.Prefetch(g.slots[:g.n], g.keys[:g.n], g.uses[:g.n])
	}
}

// prefetchReplies brings near what a locked group of replies will touch: homes, and what they keep of what is in
// flight.
func (n *Node) prefetchReplies(g *group) {
	var slots [groupSize]*slot
	for i, number := range g.slots[:g.n] {
		st := &n.stripes[number%stripes]
		if sl := st.slots[number/stripes]; sl != nil && st.isActive(number) {
			slots[i] = sl
			sl.home.Prefetch()
		}
	}
	for _, sl := range slots[:g.n] {
		if sl != nil {
			sl.home.PrefetchKey()
		}
	}
	for _, sl := range slots[:g.n] {
		if sl != nil {
			sl.home.PrefetchRequest()
		}
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
		n.stripes[i].release()
	}
	clear(g.keys[:g.n])
	g.n = 0
	if p != nil {
		panic(p)
	}
	g.out.act()
}

// handleReplies hands replicas' replies, no more than a group, to the homes that asked. What these send goes to out.
func (n *Node) handleReplies(g *group, replies []register.Message, out *outbox) {
	for i := range replies {
		g.addSlot(replies[i].Slot)
	}
	n.lockGroup(g, out)
	defer n.unlockGroup(g)
	n.prefetchReplies(g)
	for i := range replies {
		n.handleReply(&replies[i])
	}
}

// handleReply hands a replica's reply to the home that asked. The slot's stripe is
// locked.
func (n *Node) handleReply(m *register.Message) {
	st := &n.stripes[m.Slot%stripes]
	if m.Kind == register.Accept && m.Result == register.OK && !st.isActive(m.Slot) {
		return // from the replica that answered last, when all was done; not even the slot is touched then
	}
	if sl := st.slots[m.Slot/stripes]; sl != nil {
		st.out.in.Reply = m
		st.step(m.Slot, sl, register.Replied)
	}
}
