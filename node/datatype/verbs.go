package datatype

import (
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
)

// verbs are what the rest of a node asks of a type of values, whatever its commands do: to load, build and check its values, and to apply a delta.
// The size, the bytes and the parts of a value that is an object are asked of the object itself (record.Object). So whoever replicates, stores, repairs
// and copies values knows no type.
//
// A new type is a file here, or some, with its verbs and its commands, as list.go with listVerbs, and the rows of LPUSH and the others in
// dispatch.go. How it looks at a value (textIn, hashIn) is its own affair.
type verbs struct {
	// valid reports whether bytes from elsewhere are a value.
	valid func(value []byte) bool
	// longest returns how long a request may make a value.
	longest func(req *command.Request) int
	// live returns the object that a large value is in memory, of its bytes, of which nothing is kept; nil if it is to stay bytes. It is nil if all are.
	live func(value []byte) record.Object
	// build returns a builder of an object that is so many bytes when it is packed.
	build func(size int) record.Builder
	// assemble returns the object whose root a store keeps at a place.
	assemble func(root record.Place, from record.Source) (record.Object, error)
	// delta is the tag of the type's deltas, and apply applies what is behind it. Its errors are ErrDelta.
	delta byte
	apply func(st record.State, body []byte, s *space) (record.State, error)
}

// types has the verbs of each type.
var types = [...]*verbs{
	record.String:    &textVerbs,
	record.Hash:      &hashVerbs,
	record.List:      &listVerbs,
	record.Set:       &setVerbs,
	record.SortedSet: &zsetVerbs,
	record.Stream:    &streamVerbs,
}

// verbsOf returns the verbs of a type, nil if there is no such type here.
func verbsOf(t record.Type) *verbs {
	if int(t) >= len(types) {
		return nil
	}
	return types[t]
}

// Longest returns how long, in bytes, a request may make a value of a type.
func Longest(t record.Type, req *command.Request) int {
	if v := verbsOf(t); v != nil {
		return v.longest(req)
	}
	return longest(req)
}
