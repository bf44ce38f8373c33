package replica

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

// GroupSize is how many operations a group has at most.
const GroupSize = 16

// Group is a group of operations on slots and keys. The zero value is empty; it is used again and again.
type Group struct {
	n       int
	slots   [GroupSize]uint16
	keys    [GroupSize][]byte
	uses    [GroupSize]engine.Use
	homes   [GroupSize]bool
	locked  [GroupSize]uint8 // stripes, ascending
	stripes int
	round   *Round // gathers what its homes send
}

// Add adds an operation on a key and reports whether the group is full. home says whether the slot's home
// executes it.
func (g *Group) Add(slot uint16, key []byte, use engine.Use, home bool) bool {
	g.keys[g.n], g.uses[g.n], g.homes[g.n] = key, use, home
	return g.addSlot(slot)
}

// Len is how many operations there are.
func (g *Group) Len() int { return g.n }

// Homes says of each operation whether the slot's home executes it.
func (g *Group) Homes() []bool { return g.homes[:g.n] }

func (g *Group) addSlot(slot uint16) bool {
	g.slots[g.n] = slot % ring.Slots
	g.n++
	return g.n == GroupSize
}

// LockGroup locks the stripes of all operations, in ascending order. What their homes send goes to round.
func (h *Host) LockGroup(g *Group, round *Round) {
	g.stripes, g.round = 0, round
	round.in.Full = h.Space.Full()
	for _, slot := range g.slots[:g.n] {
		s := &h.stripes[slot%stripes]
		prefetch.Of(&s.mu)
		prefetch.Of(&s.round)
		g.insert(uint8(slot % stripes))
	}
	for _, i := range g.locked[:g.stripes] {
		s := &h.stripes[i]
		s.mu.Lock()
		s.round = round
	}
}

// prefetcher is what an engine may offer: to bring near what it will touch of keys, of all of them at the
// same time. The caller serialises it as Get.
type prefetcher interface {
	Prefetch(slots []uint16, keys [][]byte, uses []engine.Use)
}

// PrefetchKeys brings near what a locked group of operations on keys will touch.
func (h *Host) PrefetchKeys(g *Group) {
	v := h.view.Load()
	for _, number := range g.slots[:g.n] { // what says where the rest is
		prefetch.Of(&h.stripes[number%stripes].slots[number/stripes])
		if v != nil {
			v.Table.PrefetchEpoch(number)
		}
	}
	for i, number := range g.slots[:g.n] {
		if sl := h.stripes[number%stripes].slots[number/stripes]; sl != nil {
			prefetch.Of(&sl.err)
			sl.acceptor.Prefetch()
			if g.homes[i] {
				sl.home.Prefetch()
			}
		}
	}
	if h.prefetcher != nil {
		h.prefetcher.Prefetch(g.slots[:g.n], g.keys[:g.n], g.uses[:g.n])
	}
}

// prefetchReplies brings near what a locked group of replies will touch: homes, and what they keep of what is in
// flight.
func (h *Host) prefetchReplies(g *Group) {
	var slots [GroupSize]*Slot
	for i, number := range g.slots[:g.n] {
		st := &h.stripes[number%stripes]
		if sl := st.slots[number/stripes]; sl != nil && st.Active(number) {
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
func (g *Group) insert(stripe uint8) {
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

// UnlockGroup ends a group. It is deferred: after a panic nobody can say what state
// the slots are in, so the node does not vote any more, and the panic goes on.
func (h *Host) UnlockGroup(g *Group) {
	p := recover()
	if p != nil {
		h.StorageFailed(fmt.Errorf("panic in the replication protocol, please report it: %v", p))
	}
	if p == nil {
		g.round.tell()
	}
	for _, i := range g.locked[:g.stripes] {
		h.stripes[i].release()
	}
	clear(g.keys[:g.n])
	g.n = 0
	if p != nil {
		panic(p)
	}
	g.round.act()
}

// HandleReplies hands replicas' replies, no more than a group, to the homes that asked. What these send goes to round.
func (h *Host) HandleReplies(g *Group, replies []register.Message, round *Round) {
	for i := range replies {
		g.addSlot(replies[i].Slot)
	}
	h.LockGroup(g, round)
	defer h.UnlockGroup(g)
	h.prefetchReplies(g)
	for i := range replies {
		h.handleReply(&replies[i])
	}
}

// handleReply hands a replica's reply to the home that asked. The slot's stripe is
// locked.
func (h *Host) handleReply(m *register.Message) {
	st := &h.stripes[m.Slot%stripes]
	if m.Kind == register.Accept && m.Result == register.OK && !st.Active(m.Slot) {
		return // from the replica that answered last, when all was done; not even the slot is touched then
	}
	if sl := st.slots[m.Slot/stripes]; sl != nil {
		st.round.in.Reply = m
		st.step(m.Slot, sl, register.Replied)
	}
}
