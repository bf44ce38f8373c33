package verify

import (
	"math/rand/v2"
	"strconv"

	"github.com/quolldb/quoll/internal/history"
)

// weapon is what a key of a duel holds: the commands that contend for it, and the one that shows all of it.
type weapon struct {
	kinds []history.Kind
	whole history.Kind
}

// weapons are those that duels choose from, in turns.
var weapons = []weapon{
	{[]history.Kind{history.Get, history.Get, history.Set, history.Incr, history.SetNX, history.Del}, history.Get},
	{[]history.Kind{history.HGet, history.HMGet, history.HGetAll, history.HGetAll, history.HSet, history.HSet, history.HSetNX, history.HIncr, history.HDel,
		history.Del}, history.HGetAll},
	{[]history.Kind{history.RPush, history.RPush, history.RPush, history.LPush, history.LPop, history.LPop, history.RPop, history.LMove, history.LRem,
		history.LRange}, history.LRange},
	{[]history.Kind{history.SAdd, history.SAdd, history.SAdd, history.SRem, history.SPop, history.SPop, history.SIsMember, history.SMembers}, history.SMembers},
	{[]history.Kind{history.ZAdd, history.ZAdd, history.ZAdd, history.ZIncr, history.ZIncr, history.ZRem, history.ZPopMin, history.ZPopMin, history.ZScore,
		history.ZRange}, history.ZRange},
}

var (
	oneField      = []string{"f", "g", "h"}
	severalFields = []string{"f", "g", "f g", "g h", "f g h"}
)

// draw returns a command on a key.
func (w weapon) draw(key string) history.Command {
	command := history.Command{Kind: w.kinds[rand.IntN(len(w.kinds))], Key: key}
	switch command.Kind {
	case history.HGet, history.HSetNX, history.HIncr:
		command.Field = oneField[rand.IntN(len(oneField))]
	case history.HSet, history.HMGet, history.HDel:
		command.Field = severalFields[rand.IntN(len(severalFields))]
	}
	value := strconv.FormatInt(rand.Int64N(1e15), 10) // a number, so that INCR has something to do
	switch command.Kind {
	case history.Set, history.SetNX, history.HSet, history.HSetNX:
		command.Arg = value
	}
	command.DrawElement(rand.New(rand.NewPCG(rand.Uint64(), 0)), value)
	return command
}
