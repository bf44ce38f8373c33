// Package database names the keys of the databases 0 to 15, says where they are placed, and tells Quoll's own keys from those of clients.
//
// A key of database 0 is stored, and travels between proxies and nodes, as the client wrote it. One of another database has eight bytes before it: Prefix, and the
// database's ID. So a database costs nothing until it is used, and nodes need not know of databases: these keys are keys like any other, in the slot that the client's name of the
// key says, or, in a database that is placed together, all in one (ring.SlotOf). What else begins with Prefix is Quoll's own, and no client can name it.
package database

// Count is how many databases there are, as Redis has by default.
const Count = 16

// Prefix is what keys begin with that are of another database than 0, or Quoll's own.
const Prefix = "\xffquoll:"

// prefixed is how much longer a key of another database than 0 is.
const prefixed = len(Prefix) + 1

// ID is a database by its number and its placement. The keys of one number have other names when they are placed in another way: what is kept under names of the one
// placement is not there in the other.
type ID uint8

// IDs is how many there are: those below Count are spread over all slots, and the others have all their keys in one.
const IDs = 2 * Count

// IDOf returns the ID of a database.
func IDOf(number int, together bool) ID {
	if together {
		return ID(number + Count)
	}
	return ID(number)
}

// Number returns the number by which clients select the database.
func (id ID) Number() int { return int(id % Count) }

// Together reports whether all keys are in one slot.
func (id ID) Together() bool { return id >= Count }

// Key returns the name under which a key is kept. That of database 0 is the key itself, unless it is placed together.
func (id ID) Key(key []byte) []byte {
	if id == 0 {
		return key
	}
	name := make([]byte, 0, prefixed+len(key))
	name = append(append(name, Prefix...), byte(id))
	return append(name, key...)
}

// allPrefix is what the name of all keys of a database begins with.
const allPrefix = Prefix + "all"

// All returns the name that stands for all keys of a database that is placed together: those that are there, and those that are not. It is Quoll's own, and in the slot of
// the database. No record has it. Who reads all keys at once names it, as he names the keys that he reads.
func (id ID) All() []byte { return append([]byte(allPrefix), byte(id)) }

// AllOf is the reverse of All. It reports false for any other name.
func AllOf(name []byte) (id ID, ok bool) {
	if len(name) != len(allPrefix)+1 || string(name[:len(allPrefix)]) != allPrefix {
		return 0, false
	}
	id = ID(name[len(allPrefix)])
	return id, id < IDs && id.Together()
}

// Split is the reverse of Key. A key of Quoll's own is one of database 0.
func Split(name []byte) (id ID, key []byte) {
	if !Reserved(name) || len(name) < prefixed || name[prefixed-1] == 0 || name[prefixed-1] >= IDs {
		return 0, name
	}
	return ID(name[prefixed-1]), name[prefixed:]
}

// Reserved reports whether a name begins with Prefix. It costs a look at one byte for all others.
func Reserved(name []byte) bool {
	return len(name) >= len(Prefix) && name[0] == Prefix[0] && string(name[:len(Prefix)]) == Prefix
}

// Own reports whether a key is Quoll's own, of which no client sees anything.
func Own(name []byte) bool {
	if !Reserved(name) {
		return false
	}
	id, _ := Split(name)
	return id == 0
}
