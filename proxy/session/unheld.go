package session

import (
	"time"

	"github.com/quolldb/quoll/proxy/route"
	"github.com/quolldb/quoll/ring"
)

// unheld says where a client has written since it was known that all replicas hold what it wrote: a bit for every 64 slots, which is little enough to be kept for every client. WAIT looks into
// these. The zero value is that of a client which has written nothing.
type unheld [(ring.Slots/64 + 63) / 64]uint64

// executeBatch executes a batch of the client's, in its turn among those of all clients, and returns how long that took.
func (s *Session) executeBatch(b *route.Batch) time.Duration {
	took := s.conn.Execute(b)
	s.unheld.wrote(b.Ops)
	return took
}

// executeAtOnce is executeBatch for what is part of a command that has had its turn.
func (s *Session) executeAtOnce(b *route.Batch) {
	s.service.cluster.Execute(b)
	s.unheld.wrote(b.Ops)
}

// wrote notes operations that have been executed, as far as they are writes.
func (u *unheld) wrote(ops []route.Op) {
	for i := range ops {
		if ops[i].Write {
			u.add(ops[i].Slot())
		}
	}
}

func (u *unheld) add(slot uint16) { u[slot/64/64] |= 1 << (slot / 64 % 64) }

// wroteAll notes a write to all slots.
func (u *unheld) wroteAll() {
	for i := range u {
		u[i] = ^uint64(0)
	}
}

// join notes what another one has noted.
func (u *unheld) join(other *unheld) {
	for i := range u {
		u[i] |= other[i]
	}
}

// slots returns the slots that may have been written to.
func (u *unheld) slots() *ring.SlotSet {
	set := new(ring.SlotSet)
	for word := range set {
		if u[word/64]>>(word%64)&1 == 1 {
			set[word] = ^uint64(0)
		}
	}
	return set
}
