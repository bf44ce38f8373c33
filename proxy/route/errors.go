package route

import (
	"errors"

	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/internal/resp"
)

// ReplyError is an error that a client sees. Its text begins with the error word
// and says what happened, whether anything was done, and what to do.
//
// To add detail, wrap one of the sentinels with the detail behind it:
// fmt.Errorf("%w (slot 77: 1 of 3 replicas answers)", ErrNoMajority).
type ReplyError struct {
	// Outcome is what the error says about the operation: NotDone or Unknown.
	Outcome answer.Outcome
	// Text is the reply, without its leading minus.
	Text string
}

// Error implements error.
func (e *ReplyError) Error() string { return e.Text }

// Refuse returns the error of a command that had no effect, and never will.
func Refuse(text string) *ReplyError { return &ReplyError{Outcome: answer.NotDone, Text: text} }

// What can go wrong between the proxy and the nodes. Client libraries repeat a
// command by themselves on CLUSTERDOWN, TRYAGAIN, LOADING, READONLY, MASTERDOWN and
// NOREPLICAS, so only errors without effect carry these words.
var (
	// ErrNotReady: the proxy does not know the ring yet, or not reach the nodes. What it waits for is said behind it.
	ErrNotReady = Refuse("LOADING this proxy waits for its nodes; nothing was done. " +
		"Check that nodes run where the proxy was told to find them")
	// ErrNoMajority: too few replicas of the slot are alive.
	ErrNoMajority = Refuse("CLUSTERDOWN too few replicas of this key can be reached for a majority; nothing was done. " +
		"See 'quoll ring status' for the nodes that are missing")
	// ErrTimeout: the time was up before the operation could have had an effect.
	ErrTimeout = Refuse("CLUSTERDOWN no majority of this key's replicas answered within the operation time-out; nothing was done. " +
		"Try again, and see 'quoll ring status' if it stays so")
	// ErrOverloaded: too much waits for the node already.
	ErrOverloaded = Refuse("TRYAGAIN too many operations are waiting for this key's node; nothing was done. Try again more slowly")
	// ErrStorageFull: the replicas that answer have no room. Its word is the one that
	// Redis has for a disk that takes no writes, on which no client repeats a command by itself.
	ErrStorageFull = Refuse("MISCONF no space left on the disks of this key's nodes; nothing was done, and reads go on. " +
		"Free space, or enlarge the disks; see 'quoll ring status'")
	// ErrOutOfMemory: the nodes are in memory, and the data reach their maxmemory. It is Redis' own error, word for word.
	ErrOutOfMemory = Refuse("OOM command not allowed when used memory > 'maxmemory'.")
	// ErrUnknownOutcome: a write was sent and nobody can say yet what becomes of it.
	ErrUnknownOutcome = &ReplyError{Outcome: answer.Unknown, Text: "UNKNOWN the write was sent but its outcome is not known: " +
		"it may have taken effect, or not, or take effect yet. Read the key before repeating it"}
)

// What becomes of messages that are published.
var (
	errNoBroker = Refuse("CLUSTERDOWN no node can be reached to publish the message; nothing was done. See 'quoll ring status' for the nodes that are missing")
	errNoNode   = Refuse("CLUSTERDOWN no node has answered who subscribes to what. Try again, and see 'quoll ring status' if it stays so")
	errNotSent  = Refuse("CLUSTERDOWN no node took the message within the operation time-out; nothing was done. Try again, and see 'quoll ring status' if it stays so")
	errBusy     = Refuse("TRYAGAIN too much is waiting for the node that publishes; nothing was done. Try again more slowly")
	// errMaybeSent: the node that was to publish it did not answer.
	errMaybeSent = &ReplyError{Outcome: answer.Unknown, Text: "UNKNOWN the message was handed to a node, which did not answer: subscribers may have got it, or not. " +
		"If it is published again they may get it twice"}
)

// unpublished returns the error of a message that is not published, or nobody knows, where one about keys would be wrong.
func unpublished(err *ReplyError) *ReplyError {
	switch err {
	case ErrUnknownOutcome:
		return errMaybeSent
	case ErrTimeout, ErrNoMajority:
		return errNotSent
	case ErrOverloaded:
		return errBusy
	}
	return err
}

// AppendReply appends err as an error reply. An error that is no ReplyError is
// shown behind the word ERR.
func AppendReply(dst []byte, err error) []byte {
	var known *ReplyError
	if errors.As(err, &known) {
		return resp.AppendError(dst, err.Error())
	}
	return resp.AppendError(dst, "ERR "+err.Error())
}

// errPartlyFlushed: some slots are cleared, others are or may be not.
var errPartlyFlushed = &ReplyError{Outcome: answer.Unknown, Text: "UNKNOWN not every slot could be cleared within the operation time-out. " +
	"Repeating FLUSHALL is safe"}

// errOvertaken: a home refused the operation, or was lost with it, but has, or may
// have, executed a later one on the same key. It has no word on which clients repeat a
// command by themselves: that would change the order too.
var errOvertaken = Refuse("ERR this command could not be executed before a later one on the same key in the same pipeline; nothing was done")

// errReserved: the key is Quoll's own.

// errTooLarge: the operation does not fit into a frame of the peer protocol.
var errTooLarge = Refuse("ERR the command is too large for the cluster's peer protocol; nothing was done")
