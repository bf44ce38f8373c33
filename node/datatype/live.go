package datatype

import "github.com/quolldb/quoll/internal/record"

// Live returns a state whose value is bytes with the object that a large value is in memory, of which changes cost
// little. Nothing of the bytes is kept then. It reports false, and returns the state as it is, if it has no object: it is small, or a string.
func Live(st record.State) (live record.State, ok bool) {
	if st.Type != record.Hash || st.Object != nil {
		return st, false
	}
	h := hashIn(st).settled()
	if h.parts == nil {
		return st, false
	}
	return h.state(st.ExpireAt), true
}
