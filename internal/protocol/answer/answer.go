// Package answer is the vocabulary in which a node answers an operation, and in which everybody on the way to the client understands it: what became
// of the operation, and for what reason it was not done. The numbers are part of the peer protocol.
package answer

// Outcome says what became of an operation.
type Outcome uint8

// The outcomes.
const (
	// Done: executed exactly once. The reply is what the command answered, which may be an error of the command, such as WRONGTYPE.
	Done Outcome = 0
	// NotDone: not executed, and never will be. It may be repeated anywhere.
	NotDone Outcome = 1
	// Unknown: it may or may not have taken effect, or take effect yet (rule R11).
	Unknown Outcome = 2
)

// Reason explains NotDone and Unknown.
type Reason uint8

// The reasons. 10 was never sent.
const (
	ReasonNone    Reason = 0
	NotMember     Reason = 1  // this process is no replica of the slot
	OtherHome     Reason = 2  // another member leads the slot, which is named with it
	Expired       Reason = 3  // waited too long, never executed
	LostTerm      Reason = 4  // another home took the term; it may be named
	Overloaded    Reason = 5  // too many requests wait
	NoQuorum      Reason = 6  // no majority of the slot's replicas answers
	EpochChanged  Reason = 7  // the ring changed
	StorageFailed Reason = 8  // the replica's store failed; it does not vote any more
	NotVoting     Reason = 9  // the cluster is forming, or the node has lost its state
	StorageFull   Reason = 11 // the replica has no room for writes
	OutOfMemory   Reason = 12 // nor has its memory for more data, and nothing can be evicted
)
