package route

import (
	"github.com/quolldb/quoll/internal/protocol"
)

// sendToHome sends an operation to the member that leads the slot, or should.
func (c *Coordinator) sendToHome(view *ringView, b *Batch, i int32) {
	s := &b.state
	st := &s.ops[i]
	chain := s.chainOf(st)
	var home, except uint16
	if chain != nil && chain.out > 0 { // behind the others, wherever that is
		home, except, st.hint = chain.home, chain.except, 0
	} else {
		var err *ReplyError
		if home, except, err = c.home(view, st); err != nil {
			s.fail(st, err)
			return
		}
	}
	if !view.node(home).knows(view, st.slot) {
		s.hold(st)
		return
	}
	if chain != nil {
		chain.out, chain.round, chain.home, chain.except = chain.out+1, s.round, home, except
	}
	st.phase, st.except, st.waiting, st.targets[0] = opExecuting, except, 1, home
	if b.Ops[i].Write {
		st.err = ErrUnknownOutcome // as long as the home has not said otherwise
	}
	s.ready--
	s.message(view, b, i, home, protocol.Execute)
}

// patience is how often an operation may be turned away until it is executed by whoever it comes to: members
// that point to each other would else do so until the time is up.
const patience = 8

// hearing is how often an operation is held back, for a tenth of a second in all, until another member takes the slot over from one that has not heard who holds it.
const hearing = 10

// home chooses the member to execute an operation: the one that a node pointed to,
// else the one that led the slot last, else the first in the ring's order that answers. except is
// the member that it is not to be sent on to: it pointed elsewhere, or does not answer this proxy.
func (c *Coordinator) home(view *ringView, st *opState) (id, except uint16, err *ReplyError) {
	members := view.table.Members(st.slot)
	if !view.majority(st.slot) {
		return 0, 0, ErrNoMajority
	}
	if hint := st.hint; hint != 0 {
		st.hint = 0
		if l := view.node(hint); l != nil && l.up.Load() && view.table.Contains(st.slot, hint) {
			view.homes[st.slot].Store(uint32(hint))
			return hint, st.insist(st.hinter), nil
		}
		except = hint // this proxy cannot reach it
	}
	last := uint16(view.homes[st.slot].Load())
	if last == 0 {
		last = members[0]
	}
	able := func(id uint16) bool {
		l := view.node(id)
		return l.up.Load() && (st.delays < hearing || l.knows(view, st.slot)) && id != st.unable && st.full&memberBit(members, id) == 0
	}
	if able(last) {
		return last, st.insist(except), nil
	}
	for _, id := range members {
		if able(id) {
			view.homes[st.slot].Store(uint32(id))
			return id, st.insist(last), nil
		}
	}
	if st.full != 0 {
		return 0, 0, st.errFull()
	}
	for _, id := range members { // nobody is well: try one that is slow
		if !view.node(id).down.Load() {
			return id, protocol.AllOthers, nil
		}
	}
	return 0, 0, ErrNoMajority
}

// errFull is the error of an operation for which no node has room.
func (st *opState) errFull() *ReplyError {
	if st.memory {
		return ErrOutOfMemory
	}
	return ErrStorageFull
}

// insist returns the exception for an operation that was turned away so often.
func (st *opState) insist(except uint16) uint16 {
	if st.tries >= patience {
		return protocol.AllOthers
	}
	return except
}

// majority reports whether a majority of a slot's replicas may answer in time, and of those that it moves to (R16).
func (v *ringView) majority(slot uint16) bool {
	return v.table.Spare(slot, func(id uint16) bool { return !v.node(id).silent() }) >= 0
}

// memberBit returns the bit of a member in a set of a slot's members, 0 for a stranger.
func memberBit(members []uint16, member uint16) uint16 {
	for i, id := range members {
		if id == member {
			return 1 << i
		}
	}
	return 0
}
