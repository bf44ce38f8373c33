package history

import (
	"math/rand/v2"
	"strconv"
)

var drawn = []Kind{Get, Get, Get, Get, Set, Incr, Incr, Append, Del, SetNX, GetSet, PSetEX, PSetEX, PExpire, Persist, GetEX, GetDel}

// Draw returns a random command whose value, if it has one, is unique. place, below 10, tells
// apart commands with one serial number.
func Draw(key string, serial int64, place int) Command {
	command := Command{Kind: drawn[rand.IntN(len(drawn))], Key: key}
	switch command.Kind {
	case Set, SetNX, GetSet, PSetEX:
		command.Arg = strconv.FormatInt((serial*10+int64(place))*1000, 10) // Incr does not reach the next one
	case Append:
		command.Arg = strconv.FormatInt(serial*10+int64(place), 10)
	}
	switch command.Kind {
	case PSetEX, PExpire, GetEX:
		command.TTL = 1 + rand.Int64N(300)
	}
	return command
}
