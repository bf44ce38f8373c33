package verify

import (
	"math/rand/v2"
	"strconv"

	"github.com/quolldb/quoll/internal/history"
)

var (
	onStrings = []history.Kind{history.Get, history.Get, history.Set, history.Incr, history.SetNX, history.Del}
	onHashes  = []history.Kind{history.HGet, history.HMGet, history.HGetAll, history.HGetAll, history.HSet, history.HSet, history.HSetNX, history.HIncr,
		history.HDel, history.Del}
	oneField      = []string{"f", "g", "h"}
	severalFields = []string{"f", "g", "f g", "g h", "f g h"}
)

// draw returns a command on one of the keys, of which the second half are hashes.
func draw(keys []string) history.Command {
	at, kinds := rand.IntN(len(keys)), onStrings
	if at >= len(keys)/2 {
		kinds = onHashes
	}
	command := history.Command{Kind: kinds[rand.IntN(len(kinds))], Key: keys[at]}
	switch command.Kind {
	case history.HGet, history.HSetNX, history.HIncr:
		command.Field = oneField[rand.IntN(len(oneField))]
	case history.HSet, history.HMGet, history.HDel:
		command.Field = severalFields[rand.IntN(len(severalFields))]
	}
	switch command.Kind {
	case history.Set, history.SetNX, history.HSet, history.HSetNX:
		command.Arg = strconv.FormatInt(rand.Int64N(1e15), 10) // a number, so that INCR has something to do
	}
	return command
}
