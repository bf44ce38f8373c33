package route

// The reasons that nodes give, as node/register numbers them. The numbers are part
// of the peer protocol.
const (
	reasonNotMember     = 1
	reasonExpired       = 3
	reasonOverloaded    = 5
	reasonNoQuorum      = 6
	reasonStorageFailed = 8
	reasonNotVoting     = 9
	reasonTooLarge      = 10
	reasonStorageFull   = 11
)

// unable reports whether a node that refused for this reason will refuse the next
// attempt too, so that another one has to take over. That it reaches no majority says
// nothing about the others: it may be the one that is cut off.
func unable(reason uint8) bool {
	switch reason {
	case reasonNotMember, reasonStorageFailed, reasonNotVoting, reasonNoQuorum:
		return true
	}
	return false
}

// refusal returns the error for a reason why a node did not execute an operation
// (nil for ErrTimeout), and whether it is final: otherwise another replica, or the same one
// a little later, may do it.
func refusal(reason uint8) (err *ReplyError, final bool) {
	switch reason {
	case reasonExpired:
		return ErrTimeout, true
	case reasonNoQuorum:
		return ErrNoMajority, false
	case reasonStorageFull:
		return ErrStorageFull, false
	case reasonTooLarge:
		return errTooLarge, true
	}
	return nil, false
}
