package register

import (
	"github.com/quolldb/quoll/internal/record"
)

// Ready is what steps of homes have brought about: what is to be sent, counted and answered. A step only adds to it, so that the
// homes of many slots can share one; the caller persists Write after each, acts on the rest and calls Sent, and Reset when the votes are done with. The zero value is
// empty. It reuses its memory: a step allocates nothing.
//
// What it holds is its own: keys, deltas and values of up to record.CopiedValue bytes are copies, longer values never change. So it may wait, though the
// slots go on. It is not safe for concurrent use.
type Ready struct {
	// Messages are requests to other members, in order. They say nothing of what this process holds, and may leave at once (R2).
	Messages []Outgoing
	// Answers are for requests. They wait until what is staged is durable.
	Answers []Answered
	// Missed are what members that are not alive have not acknowledged.
	Missed []Missed
	// Events are what happened, to be counted.
	Events []Event
	// Evaluations are batches that are to be run by themselves.
	Evaluations []*Evaluation
	// Votes are replies of the process' own replicas. Each is the input of a step of its home, as soon as what is staged
	// is durable (R2).
	Votes []Message
	// Write is what the own replica of the home that made the last step wants to have persisted, before anything else here leaves: see Persisted.
	Write Write

	served int    // so many of the messages have been executed by the own replicas, if they are for them
	bytes  []byte // backs keys, deltas and short values
}

// Outgoing is a request that goes to one or more members.
type Outgoing struct {
	// To are its receivers. From, if it is among them, is not sent it: its own replica has executed it.
	To []uint16
	// Blind: it is the effect of a command that needs no state. It does not travel.
	Blind bool
	Message
}

// Answered is a request with its answer, of which it gets exactly one. Both are borrowed until Sent.
type Answered struct {
	Request *Request
	Answer
}

// Missed says that a member, which is not alive, has not acknowledged the newest write of a key, or if Key is nil of the whole
// slot, and that the home does not wait for it any more. It touches liveness only.
type Missed struct {
	Slot, Member uint16
	Key          []byte
}

// Empty reports whether there is nothing to send, to answer, to run or to count. There may be votes.
func (out *Ready) Empty() bool {
	return len(out.Messages)+len(out.Answers)+len(out.Missed)+len(out.Events)+len(out.Evaluations) == 0
}

// Sent forgets everything but the votes. The requests that were answered go back to their pool.
func (out *Ready) Sent() {
	for i := range out.Messages {
		out.Messages[i].Forget()
	}
	for i := range out.Answers {
		out.Answers[i].Request.free()
		out.Answers[i] = Answered{}
	}
	clear(out.Missed)
	clear(out.Evaluations)
	out.Evaluations = out.Evaluations[:0]
	out.Messages, out.Answers, out.Missed, out.Events, out.served = out.Messages[:0], out.Answers[:0], out.Missed[:0], out.Events[:0], 0
	if len(out.Votes) == 0 {
		out.reuse()
	}
}

// Reset forgets the votes, too.
func (out *Ready) Reset() {
	for i := range out.Votes {
		out.Votes[i].Forget()
	}
	out.Votes = out.Votes[:0]
	out.Sent()
}

// reuse begins anew with the memory for bytes, unless it is a lot.
func (out *Ready) reuse() {
	if out.bytes = out.bytes[:0]; cap(out.bytes) > maxPooled {
		*out = Ready{} // nor may there be much memory in the lists then
	}
}

// request adds a request that has its kind and nothing else yet. The pointer is good until the next one is added.
func (out *Ready) request(kind Kind) *Outgoing {
	if n := len(out.Messages); n < cap(out.Messages) {
		out.Messages = out.Messages[:n+1]
	} else {
		out.Messages = append(out.Messages, Outgoing{})
	}
	x := &out.Messages[len(out.Messages)-1]
	*x = Outgoing{}
	x.Kind = kind
	return x
}

// vote adds a reply that has yet to be filled in. The pointer is good until the next one is added.
func (out *Ready) vote() *Message {
	if n := len(out.Votes); n < cap(out.Votes) {
		out.Votes = out.Votes[:n+1]
	} else {
		out.Votes = append(out.Votes, Message{})
	}
	return &out.Votes[len(out.Votes)-1]
}

// unvote takes the reply back that was added last.
func (out *Ready) unvote() { out.Votes = out.Votes[:len(out.Votes)-1] }

// keep returns a copy of bytes that are borrowed; nil of none.
func (out *Ready) keep(b []byte) []byte {
	if len(b) == 0 {
		return nil
	}
	start := len(out.bytes)
	out.bytes = append(out.bytes, b...)
	return out.bytes[start:len(out.bytes):len(out.bytes)]
}

// keepPatch returns a patch as a delta.
func (out *Ready) keepPatch(p record.Patch) []byte {
	start := len(out.bytes)
	out.bytes = p.Append(out.bytes)
	return out.bytes[start:len(out.bytes):len(out.bytes)]
}

// keepShort is keep for what is borrowed only if it is short, as values are.
func (out *Ready) keepShort(b []byte) []byte {
	if len(b) > record.CopiedValue {
		return b
	}
	return out.keep(b)
}
