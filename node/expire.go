package node

import (
	"bytes"
	"sync/atomic"
	"time"

	"github.com/quolldb/quoll/node/replica"
	"github.com/quolldb/quoll/ring"
)

// Keys that have expired go away without being read: of every slot whose home this node is,
// or should be, it looks once a second for what has expired, and lets the home delete it. That
// is a write (R12), and the tombstones are purged as all others (R13).

const (
	// expirePass is how long it takes to look at all slots once.
	expirePass = time.Second
	// expireStep is the time between steps.
	expireStep = 20 * time.Millisecond
	// expireKeys bounds the keys of a step: 10,000 a second.
	expireKeys = 200
	// expireShare bounds the time that is spent on looking through one slot: a large one in
	// which little has expired is looked at less often.
	expireShare = 10
)

// expirer lets homes delete what has expired. It belongs to one goroutine, but for the
// answers.
type expirer struct {
	node   *Node
	open   atomic.Int64 // deletions that homes were asked for, and that are not answered
	failed atomic.Int64 // that were not executed, or nobody knows, since the last step

	next  uint16           // the slot to look at next
	rests map[uint16]int64 // slots that are left alone until then, in monotonic milliseconds
	keys  [][]byte         // what the step has found

	// The slot that is being looked at. Nearly all have nothing, so it is to cost little.
	clock  time.Time // when the step began, or the last one that had something was done with
	stripe *replica.Stripe
	slot   uint16
	before int               // keys of other slots
	visit  func([]byte) bool // e.found
	answer func(done bool)   // e.answered
}

func newExpirer(n *Node) *expirer {
	e := &expirer{node: n, rests: map[uint16]int64{}}
	e.visit, e.answer = e.found, e.answered
	return e
}

// step looks at some slots, until it has found enough. It waits until the homes have
// dealt with what the last one found.
func (e *expirer) step() {
	n := e.node
	v := n.replicas.View()
	if v == nil || n.replicas.Failed() || e.open.Load() > 0 || n.exec.Busy() {
		return
	}
	round := n.replicas.Begin()
	defer round.Flush()
	if round.Full() {
		return
	}
	if len(e.keys) >= expireKeys && e.failed.Load() > 0 {
		e.next = (e.next + 1) % ring.Slots // it is of no use to go on with this slot now
	}
	e.keys = e.keys[:0]
	e.failed.Store(0)
	e.clock = time.Now()
	for range ring.Slots / int(expirePass/expireStep) {
		number := e.next
		if v.Table.Contains(number, v.Self) && round.Mono() >= e.rests[number] {
			e.look(number, round)
		}
		if len(e.keys) >= expireKeys {
			return // there may be more in this slot
		}
		e.next = (number + 1) % ring.Slots
	}
}

// look lets the home of a slot delete what has expired in it, if it is this node's task.
func (e *expirer) look(number uint16, round *replica.Round) {
	st := e.node.replicas.Lock(number, round)
	defer st.Unlock()
	e.stripe, e.slot, e.before = st, number, len(e.keys)
	looked, err := e.node.engine.Expired(number, round.Now(), e.visit)
	if err != nil {
		st.Unreadable(number, err)
		return
	}
	delete(e.rests, number)
	if !looked { // it took next to nothing: to read the clock would be most of it
		return
	}
	if took := time.Since(e.clock); took > time.Millisecond {
		e.rests[number] = round.Mono() + expireShare*took.Milliseconds()
	}
	for _, key := range e.keys[e.before:] {
		e.open.Add(1)
		st.Background(number, replica.OpExpire, key, e.answer)
	}
	e.clock = time.Now()
}

// found keeps a key that has expired, and says whether to go on.
func (e *expirer) found(key []byte) bool {
	if len(e.keys) == e.before && !e.mine() {
		return false
	}
	e.keys = append(e.keys, bytes.Clone(key))
	return len(e.keys) < expireKeys
}

// mine reports whether this node is the one that lets the slot's home delete.
func (e *expirer) mine() bool { return e.stripe.Responsible(e.slot) }

// answered counts the answer to a deletion.
func (e *expirer) answered(done bool) {
	if !done {
		e.failed.Add(1)
	}
	e.open.Add(-1)
}
