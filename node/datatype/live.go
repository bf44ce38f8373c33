package datatype

import (
	"fmt"

	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/node/datatype/parts"
)

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

// Assemble returns the object of a type whose root a store keeps at a place. An error is one of read, or says that the parts are no such object.
func Assemble(t record.Type, root record.Place, read record.ReadPart) (record.Object, error) {
	switch t {
	case record.Hash:
		return parts.AssembleMap(root, read)
	case record.String:
		return parts.AssembleRope(root, read)
	}
	return nil, fmt.Errorf("datatype: a %s is never in parts", t)
}
