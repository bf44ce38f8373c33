package datatype

import (
	"fmt"

	"github.com/quolldb/quoll/internal/record"
)

// Live returns a state whose value is bytes with the object that a large value is in memory, of which changes cost
// little. Nothing of the bytes is kept then. It reports false, and returns the state as it is, if it has no object: it is small, or a string.
func Live(st record.State) (live record.State, ok bool) {
	if !MayLive(st.Type) || st.Object != nil {
		return st, false
	}
	object := types[st.Type].live(st.Value)
	if object == nil {
		return st, false
	}
	return record.State{Type: st.Type, ExpireAt: st.ExpireAt, Object: object}, true
}

// MayLive reports whether Live may return an object for a state of the type: it may be left out for any other.
func MayLive(t record.Type) bool {
	return int(t) < len(types) && types[t] != nil && types[t].live != nil
}

// Assemble returns the object of a type whose root a store keeps at a place. It may read the rest from there when it is needed: see record.Parted. An error is
// one of the source, or says that the parts are no such object.
func Assemble(t record.Type, root record.Place, from record.Source) (record.Object, error) {
	if v := verbsOf(t); v != nil {
		return v.assemble(root, from)
	}
	return nil, fmt.Errorf("datatype: a %s is never in parts", t)
}
