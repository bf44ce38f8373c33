package node

import (
	"time"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/replica"
)

// batchPatience is how long who looks through a slot waits for the keys of a batch to be written. It is a round, unless their home has just died.
const batchPatience = 20 * time.Millisecond

// lockSettled locks a slot to look through its keys. A batch is answered when its record is chosen, and its keys are written then (B3, B4): so if one is open, it waits for them, or until it has
// waited long enough. Otherwise keys that a client has just written by EXEC would not be among those that he lists.
func (n *Node) lockSettled(number uint16) *replica.Stripe {
	var first record.Version
	var late time.Time
	for {
		st := n.replicas.Lock(number, nil)
		open := st.OpenBatch(number)
		switch {
		case open.IsZero(), !first.IsZero() && (open != first || time.Now().After(late)): // the keys of the first one have been written, or nobody does it
			return st
		case first.IsZero():
			first, late = open, time.Now().Add(batchPatience)
		}
		st.Unlock()
		time.Sleep(time.Millisecond)
	}
}
