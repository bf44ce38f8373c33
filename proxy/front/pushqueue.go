package front

import "time"

// OutputLimit bounds what may wait for a client, as Redis' client-output-buffer-limit does: who has more than Hard bytes waiting is disconnected,
// and who has more than Soft for longer than SoftFor. Zero is no bound.
type OutputLimit struct {
	Hard, Soft int64
	SoftFor    time.Duration
}

// PubSubLimit is Redis' default for clients that subscribe: they are sent what others want, and have no way to ask for less.
var PubSubLimit = OutputLimit{Hard: 32 << 20, Soft: 8 << 20, SoftFor: time.Minute}

// messageCost is what a message costs beside its bytes: its place in the queue, which may be half empty.
const messageCost = 48

// keptMessages is the longest queue whose memory is kept when it is empty.
const keptMessages = 64

// pushQueue holds what was pushed to a client and is not written yet, oldest first, and says whether that is too much. It is pure: the time comes
// in as an argument, and whoever has the queue has a lock.
type pushQueue struct {
	limit    OutputLimit
	messages [][]byte // from next on
	next     int
	bytes    int64     // with messageCost for each
	soft     time.Time // since when more than limit.Soft waits, zero if it does not
}

// push adds a message, which is borrowed until it is dropped. It reports whether the client may have that much waiting.
func (q *pushQueue) push(message []byte, now time.Time) bool {
	if q.next > len(q.messages)/2 { // what was dropped makes room before the queue grows
		n := copy(q.messages, q.messages[q.next:])
		clear(q.messages[n:])
		q.messages, q.next = q.messages[:n], 0
	}
	q.messages = append(q.messages, message)
	q.bytes += int64(len(message)) + messageCost
	return q.within(now)
}

// within reports whether what waits is no more than the limit allows, or has not been for too long.
func (q *pushQueue) within(now time.Time) bool {
	switch l := q.limit; {
	case l.Hard > 0 && q.bytes > l.Hard:
		return false
	case l.Soft == 0 || q.bytes <= l.Soft:
		q.soft = time.Time{}
	case q.soft.IsZero():
		q.soft = now
	default:
		return now.Sub(q.soft) <= l.SoftFor
	}
	return true
}

// len is how many messages wait.
func (q *pushQueue) len() int { return len(q.messages) - q.next }

// first is the oldest message, nil if there is none.
func (q *pushQueue) first() []byte {
	if q.len() == 0 {
		return nil
	}
	return q.messages[q.next]
}

// drop removes the oldest message.
func (q *pushQueue) drop() {
	q.bytes -= int64(len(q.messages[q.next])) + messageCost
	q.messages[q.next] = nil
	q.next++
	if q.bytes <= q.limit.Soft {
		q.soft = time.Time{}
	}
	if q.len() == 0 {
		q.reset()
	}
}

// reset empties the queue.
func (q *pushQueue) reset() {
	clear(q.messages)
	if q.messages, q.next, q.bytes, q.soft = q.messages[:0], 0, 0, (time.Time{}); cap(q.messages) > keptMessages {
		q.messages = nil
	}
}
