package node

import (
	"time"

	"github.com/quolldb/quoll/node/engine"
	"github.com/quolldb/quoll/node/replica"
	"github.com/quolldb/quoll/ring"
)

const (
	// lotsFor is how long the lots are drawn from before they are made anew,
	lotsFor = time.Second
	// and lotsBriefly how long when a part of the keys, one of spentPart, has gone since. What is new by then would not be looked at, and what is old would go for it.
	lotsBriefly, spentPart = 20 * time.Millisecond, 4
)

// lots are the slots whose homes are this node's, so that each key is as likely to be looked at as any other.
type lots struct {
	at   int64 // when they were made, in monotonic milliseconds, 0 for never
	all  []lot
	gone int                // keys that were chosen of them since
	held int                // keys that may go, in all slots that the node holds
	led  map[uint16]float64 // of each member: the part of its slots whose homes are this node's
}

// lot is one of the slots.
type lot struct {
	slot uint16
	upTo uint64 // the keys that may go of this slot and those before it
}

// drawLots looks at all slots.
func drawLots(n *Node, e engine.Evicting, v *replica.View, now int64) lots {
	l, keys := lots{at: now, led: map[uint16]float64{}}, uint64(0)
	for number := range uint16(ring.Slots) {
		count := e.Evictable(number)
		l.held += count
		if !v.Table.Contains(number, v.Self) || !leads(n, number) {
			continue
		}
		for _, id := range v.Table.Members(number) {
			l.led[id]++
		}
		if keys += uint64(max(count, 0)); count > 0 {
			l.all = append(l.all, lot{number, keys})
		}
	}
	for id := range l.led {
		l.led[id] /= float64(max(v.Table.ReplicaSlots(id), 1))
	}
	return l
}

// leads reports whether this node is the one to evict in a slot.
func leads(n *Node, number uint16) bool {
	st := n.replicas.Lock(number, nil)
	defer st.Unlock()
	return st.Responsible(number)
}

// old reports whether the lots are to be made anew.
func (l *lots) old(now int64) bool {
	age := now - l.at
	return l.at == 0 || age > lotsFor.Milliseconds() || spentPart*uint64(l.gone) > l.keys() && age >= lotsBriefly.Milliseconds()
}

// keys is how many keys may go, in all of the slots.
func (l *lots) keys() uint64 {
	if len(l.all) == 0 {
		return 0
	}
	return l.all[len(l.all)-1].upTo
}

// share is the part of a member's slots whose homes are this node's.
func (l *lots) share(id uint16) float64 { return min(1, l.led[id]) }

// pick picks a slot, by how many keys it has.
func (l *lots) pick(random func(uint64) uint64) (slot uint16, ok bool) {
	if len(l.all) == 0 {
		return 0, false
	}
	at := random(l.keys())
	low, high := 0, len(l.all)-1
	for low < high {
		if middle := (low + high) / 2; at < l.all[middle].upTo {
			high = middle
		} else {
			low = middle + 1
		}
	}
	return l.all[low].slot, true
}
