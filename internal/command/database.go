package command

import (
	"fmt"
	"slices"

	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/resp"
)

// ErrDatabase is the error for a database that there is not, as a reply.
const ErrDatabase = "ERR DB index is out of range"

// ErrReserved is the error for a key that no client can name, as a reply.
var ErrReserved = fmt.Sprintf("ERR keys that begin with %q are Quoll's own; nothing was done. Choose another name", database.Prefix)

// ErrClosed is the error for a key of a database whose placement is being changed, as a reply.
const ErrClosed = "TRYAGAIN how the keys of this database are placed is being changed; nothing was done. Try again in a moment"

// Database reads the number of a database. The problem is why the argument is none, as Redis words it, nothing if it is.
func Database(arg []byte) (number int, problem string) {
	n, ok := resp.ParseInt(arg)
	switch {
	case !ok:
		return 0, errNotInteger
	case int64(int32(n)) != n:
		return 0, "ERR value is out of range, value must between -2147483648 and 2147483647"
	case n < 0 || n >= database.Count:
		return 0, ErrDatabase
	}
	return int(n), ""
}

// In returns the arguments of a command, as a client in a database has written it, with the names under which its keys are kept (database.ID), and has no effect on what
// ArityOK does not accept. MOVE then has the two keys that it is about, as OpMoveKey has. In database 0 nothing is copied, unless it is placed together. The problem is why it cannot be executed, as a
// reply: it names a key that no client can name, or MOVE a wrong database.
func (c *Command) In(number int, placed database.Placements, args [][]byte) (named [][]byte, problem string) {
	if !c.OnKeys() {
		return args, ""
	}
	if !placed.Open(number) {
		return nil, ErrClosed
	}
	id := placed.ID(number)
	if id == 0 && c.Op != OpMove && c.Op != OpCopy && !slices.ContainsFunc(args, database.Reserved) {
		return args, ""
	}
	if !c.ArityOK(len(args)) {
		return args, ""
	}
	if c.Op == OpMove {
		return moved(number, placed, args)
	}
	var buf [8]int
	places, _ := c.keyPlaces(buf[:0], args)
	for _, at := range places {
		if id == 0 && database.Reserved(args[at]) {
			return nil, ErrReserved
		}
	}
	named = slices.Clone(args)
	for _, at := range places {
		named[at] = id.Key(args[at])
	}
	if c.Op == OpCopy {
		into := copiedInto(number, args)
		if !placed.Open(into) {
			return nil, ErrClosed
		}
		named[2] = placed.ID(into).Key(args[2])
	}
	return named, ""
}

// moved returns the arguments of MOVE key db as those of OpMoveKey.
func moved(number int, placed database.Placements, args [][]byte) (named [][]byte, problem string) {
	id := placed.ID(number)
	if id == 0 && database.Reserved(args[1]) {
		return nil, ErrReserved
	}
	switch into, problem := Database(args[2]); {
	case problem != "":
		return nil, problem
	case into == number:
		return nil, "ERR source and destination objects are the same"
	case !placed.Open(into):
		return nil, ErrClosed
	default:
		return [][]byte{args[0], id.Key(args[1]), placed.ID(into).Key(args[1])}, ""
	}
}

// copiedInto returns the database that COPY source destination [DB number] [REPLACE] copies into. What is wrong with its options is for a node to say.
func copiedInto(number int, args [][]byte) int {
	for i := 3; i+1 < len(args); i++ {
		if equalFold("db", args[i]) {
			i++
			if into, problem := Database(args[i]); problem == "" {
				number = into
			}
		}
	}
	return number
}

// Sent returns the number under which a node executes a command whose arguments In has named.
func (c *Command) Sent() Op {
	if c.Op == OpMove {
		return OpMoveKey
	}
	return c.Op
}
