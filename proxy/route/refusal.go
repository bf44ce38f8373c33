package route

import "github.com/quolldb/quoll/internal/protocol/answer"

// unable reports whether a node that refused for this reason will refuse the next
// attempt too, so that another one has to take over. That it reaches no majority says
// nothing about the others: it may be the one that is cut off.
func unable(reason answer.Reason) bool {
	switch reason {
	case answer.NotMember, answer.StorageFailed, answer.NotVoting, answer.NoQuorum:
		return true
	}
	return false
}

// refusal returns the error for a reason why a node did not execute an operation
// (nil for ErrTimeout), and whether it is final: otherwise another replica, or the same one
// a little later, may do it.
func refusal(reason answer.Reason) (err *ReplyError, final bool) {
	switch reason {
	case answer.Expired:
		return ErrTimeout, true
	case answer.NoQuorum:
		return ErrNoMajority, false
	case answer.StorageFull:
		return ErrStorageFull, false
	case answer.OutOfMemory:
		return ErrOutOfMemory, false
	}
	return nil, false
}
