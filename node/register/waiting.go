package register

import (
	"math"

	"github.com/quolldb/quoll/internal/record"
)

// What waits for acknowledgements of a quorum (R8), or for a round that it answers (R9).

// waiter is an evaluated request whose answer depends on acknowledgements.
type waiter struct {
	request    *Request
	start, end int    // of the reply in request.replies
	needSeq    uint64 // this term's seq that a quorum must hold, 0 for none
	needRound  uint64 // round that a quorum must have answered, 0 for none
}

// attempted notes that a version has what the request changes, or what it waits for, if that is nothing.
func (w *waiter) attempted(changes bool, version record.Version) {
	if changes {
		w.request.attempted(version, w.start, w.end)
	} else {
		w.request.shares(version, w.start, w.end)
	}
}

// wait lets a read, or a command without effect, wait until the head is held by a
// quorum and a round that was sent after the request arrived is answered (R9).
func (h *Home) wait(ks *keyState, w waiter) {
	w.needRound = w.request.arrived + 1
	inTerm := ks.head.Version.Ballot == h.ballot
	if !inTerm && !ks.agreed && h.in.Full { // it would have to be written back
		h.noRoom(w.request)
		return
	}
	if inTerm {
		w.needSeq = ks.head.Version.Seq
	} else if !ks.agreed {
		w.needSeq = h.seq + 1
	}
	if ks.agreed {
		w.needSeq = 0
	}
	ks.waiting = append(ks.waiting, w)
	if h.reads++; h.reads == 1 || w.needRound < h.lowest {
		h.lowest = w.needRound
	}
	switch {
	case !inTerm && !ks.agreed: // same state, this term's version
		h.count(WroteBack)
		h.propose(ks, record.Effect{Kind: record.Replaced, State: ks.head.State}, false)
	case h.asked >= w.needRound, h.confirmed(w.needRound): // no other message will surely be answered, or its answers noted
	case h.reads > 1 && h.asked != 0 && !h.confirmed(h.asked): // then there will be one for all who have come meanwhile
		ks.sent, h.wanted = h.in.Mono, max(h.wanted, w.needRound)
	default:
		ks.sent = h.in.Mono
		h.confirm()
	}
}

// holds reports whether a quorum holds seq of this term, for this key: by an
// accept of the key or by a clear of the slot, never by another key's (R8).
func (h *Home) holds(ks *keyState, seq uint64) bool {
	var s set
	for i := range h.config.members {
		if h.acked(ks, i) >= seq {
			s.add(i)
		}
	}
	return h.config.quorum(s)
}

// roundAnswered answers those who waited for a round that a quorum has answered now, whatever it was about (R9), and sends one for those who have come since the last.
func (h *Home) roundAnswered() {
	if h.confirmed(h.lowest) {
		h.settleAll()
		h.lowest = math.MaxUint64
		for _, ks := range h.keys.all() {
			for i := range ks.waiting {
				if need := ks.waiting[i].needRound; need != 0 {
					h.lowest = min(h.lowest, need)
					break // those behind it have come later, but for a batch that is done again
				}
			}
		}
	}
	if h.phase == leading && h.reads > 0 && h.asked < h.wanted && h.confirmed(h.asked) && !h.confirmed(h.wanted) {
		h.confirm()
	}
}

// confirm asks all members whether the term is still held (R9).
func (h *Home) confirm() {
	h.broadcast(h.out.request(Confirm))
	h.asked = h.round
}

// confirmed reports whether a quorum answered a round of this term.
func (h *Home) confirmed(round uint64) bool {
	var s set
	for i := range h.answered {
		if h.answered[i] >= round {
			s.add(i)
		}
	}
	return h.config.quorum(s)
}

// settle answers every waiter of a key whose conditions hold (R8, R9), and
// forgets the key when nothing is left.
func (h *Home) settle(ks *keyState) {
	h.answerHeld(ks)
	if h.droppable(ks) && !h.lingers(ks) {
		h.forget(ks)
	}
}

// answerHeld answers the waiters whose conditions hold, in their order. It does not look behind one whose seq no quorum holds: seqs grow, so nobody behind it needs less. Of
// a key that many want to change at once hundreds wait, and each reply goes through them all: for many of them that wait for the same it is found out once.
func (h *Home) answerHeld(ks *keyState) {
	all, looked, left := ks.waiting, 0, 0 // of those that were looked at, left stay
	held, confirmed, unconfirmed := uint64(0), uint64(0), uint64(math.MaxUint64)
	for ; looked < len(all); looked++ {
		w := &all[looked]
		if w.needSeq > held {
			if !h.holds(ks, w.needSeq) {
				break
			}
			held = w.needSeq
		}
		if w.needRound > confirmed && w.needRound < unconfirmed {
			if h.confirmed(w.needRound) {
				confirmed = w.needRound
			} else {
				unconfirmed = w.needRound
			}
		}
		if w.needRound <= confirmed {
			h.finish(*w)
			continue
		}
		if all[len(all)-1].needSeq <= w.needSeq {
			break // there is no write behind it, and who waits for a round waits for a later one, or is a batch that is done again
		}
		all[left] = *w
		left++
	}
	switch {
	case left == looked: // nobody was answered
	case left == 0 && looked < len(all):
		clear(all[:looked])
		ks.waiting = all[looked:]
	default:
		left += copy(all[left:], all[looked:])
		clear(all[left:])
		ks.waiting = all[:left]
	}
}

// droppable reports whether the home may forget the key: nothing waits, and what
// its own replica shows under the own ballot is held by a quorum.
func (h *Home) droppable(ks *keyState) bool {
	return len(ks.queue)+len(ks.doubt) == 0 && !ks.pinned && h.answeredAll(ks)
}

// answeredAll reports whether a quorum has answered whatever was asked about the key.
func (h *Home) answeredAll(ks *keyState) bool {
	if len(ks.waiting) > 0 || ks.reading != nil {
		return false
	}
	return !ks.known || ks.agreed || ks.head.Version.Ballot != h.ballot || h.holds(ks, ks.head.Version.Seq)
}

// finish answers a waiter with its reply.
func (h *Home) finish(w waiter) {
	if w.needRound != 0 {
		h.reads--
	}
	if !h.batching() { // else the next one has as much to do again
		h.interrupted = 0
	}
	h.answer(w.request, Answer{Outcome: Done, Reply: w.request.replies[w.start:w.end]})
}

func (h *Home) answer(r *Request, a Answer) {
	if a.Outcome == Unknown {
		h.count(AnsweredUnknown)
	}
	h.out.Answers = append(h.out.Answers, Answered{r, a})
}
