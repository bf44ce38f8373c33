package command

import (
	"encoding/binary"
	"errors"

	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/record"
)

// Commands on all keys of a database, as a part of a batch: of one that is placed together.

// MostListed is how many keys a database may have of which a batch reads all: each of them is one of the batch.
const MostListed = 10_000

// Listing says that a batch names all keys of a database, as of some moment before it was sent: beside the name that stands for all (database.ID.All) those that replicas have shown.
type Listing struct {
	Database database.ID
	// Promised is the ballot that the replicas had promised which have shown them.
	Promised record.Ballot
}

// ReadsAll reports whether a command is on all keys of the database that it is executed in, and on nothing else.
func (c *Command) ReadsAll() bool {
	switch c.Op {
	case OpDBSize, OpKeys, OpScan, OpRandomKey, OpFlushDB:
		return true
	}
	return false
}

// encoded returns a listing as an argument of a batch.
func (l *Listing) encoded() []byte {
	dst := []byte{byte(l.Database)}
	dst = binary.AppendUvarint(dst, l.Promised.Counter)
	return binary.AppendUvarint(dst, l.Promised.Incarnation)
}

var errListing = errors.New("command: this is no listing")

// parseListing is the reverse of encoded.
func parseListing(arg []byte) (*Listing, error) {
	if len(arg) == 0 || arg[0] >= database.IDs || !database.ID(arg[0]).Together() {
		return nil, errListing
	}
	l := &Listing{Database: database.ID(arg[0])}
	rest := arg[1:]
	for _, n := range []*uint64{&l.Promised.Counter, &l.Promised.Incarnation} {
		value, size := binary.Uvarint(rest)
		if size <= 0 {
			return nil, errListing
		}
		*n, rest = value, rest[size:]
	}
	if len(rest) > 0 {
		return nil, errListing
	}
	return l, nil
}
