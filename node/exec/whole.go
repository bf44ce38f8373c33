package exec

import (
	"slices"
	"strings"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/node/datatype"
)

// all executes a command on all keys of a database as a part of a batch. The proxy lists them first: it is told to by the name that stands for them, which the batch misses then.
func (e *Executor) all(dst []byte, keys *datatype.Keyspace, req *command.Request, number int) []byte {
	placed := e.host.View().Placements
	id := placed.ID(number)
	switch {
	case !placed.Open(number):
		return resp.AppendError(dst, command.ErrClosed)
	case !id.Together():
		return resp.AppendError(dst, errSpread(req))
	}
	return keys.ExecuteAll(dst, req, id)
}

// errSpread is the error for such a command in a database whose keys are in all slots.
func errSpread(req *command.Request) string {
	return "ERR '" + strings.ToUpper(command.ByOp(req.Op).Name) + "' is of all slots, and Quoll executes scripts in one, unless their database is placed together"
}

// unlisted are the keys that a batch misses which is to have all of a database: with the name that stands for all if they have to be listed anew.
func (b *batch) unlisted() [][]byte {
	missing := slices.Clone(b.whole.Missing)
	if b.whole.Unlisted {
		missing = append(missing, b.whole.Database.All())
	}
	return missing
}
