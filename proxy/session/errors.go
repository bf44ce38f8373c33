package session

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/proxy/route"
)

// What the proxy itself refuses.
var (
	errCrossSlot  = route.Refuse(command.ErrCrossSlot)
	errSyntax     = route.Refuse("ERR syntax error")
	errNotInteger = route.Refuse("ERR value is not an integer or out of range")
	errNotStrings = route.Refuse("ERR The specified keys must contain string values")
	errNoSketch   = route.Refuse("INVALIDOBJ Corrupted HLL object detected")
	errNoAuth     = route.Refuse("NOAUTH Authentication required.")
	errWrongPass  = route.Refuse("WRONGPASS invalid username-password pair or user is disabled.")
	// errTooManyPasswords says nothing of the password that was given.
	errTooManyPasswords = route.Refuse("ERR too many wrong passwords came from this address; the password was not looked at. Wait some seconds and try again")
	errNoPassword       = route.Refuse("ERR AUTH <password> called without any password configured for the default user. Are you sure your configuration is correct?")
	errHelloNoAuth      = route.Refuse("NOAUTH HELLO must be called with the client already authenticated, otherwise the HELLO <proto> AUTH <user> <pass> option can be used to authenticate the client and select the RESP protocol version at the same time")
	errNoProto          = route.Refuse("NOPROTO unsupported protocol version")
	errClientName       = route.Refuse("ERR Client names cannot contain spaces, newlines or special characters.")
	errPartly           = &route.ReplyError{Outcome: answer.Unknown, Text: "UNKNOWN the command was executed on a part of its keys only"}
	errKeysTooLarge     = route.Refuse("ERR the reply of KEYS would be larger than the client output limit. Use SCAN, or a narrower pattern")
	errNoCluster        = route.Refuse("ERR This instance has cluster support disabled")
	errNoChange         = route.Refuse("ERR the proxies are given with --cluster-proxies, and the nodes are changed with quoll ring; nothing was done")
	errSlot             = route.Refuse("ERR Invalid slot")
	errSlotOrCount      = route.Refuse("ERR Invalid slot or number of keys")
)

// errDatabases is what is refused with that is on keys of two databases of which one is placed together: no hash tag brings them into one slot.
var errDatabases = route.Refuse("CROSSSLOT this is on keys of two databases, of which at least one is placed together, so that its keys are in a slot of their own; nothing was done. " +
	"To move or copy a key between them DUMP it, RESTORE it in the other database, and DEL it: each is atomic by itself")

// errSlots returns the error for keys, as they are kept, that are in several slots.
func errSlots(keys [][]byte) error {
	first, _ := databaseOf(keys[0])
	for _, key := range keys[1:] {
		if id, _ := databaseOf(key); id != first && (id.Together() || first.Together()) {
			return errDatabases
		}
	}
	return errCrossSlot
}

// databaseOf returns the database of a key, and of the name that stands for all of them.
func databaseOf(key []byte) (id database.ID, all bool) {
	if id, all = database.AllOf(key); !all {
		id, _ = database.Split(key)
	}
	return id, all
}

// unknownCommand is Redis' error for a command that it does not have.
func unknownCommand(args [][]byte) error {
	var list strings.Builder
	for _, arg := range args[1:] {
		if list.Len() >= 128 {
			break
		}
		fmt.Fprintf(&list, "'%s' ", beginning(arg, 128-list.Len()))
	}
	return route.Refuse(fmt.Sprintf("ERR unknown command '%s', with args beginning with: %s", beginning(args[0], 128), &list))
}

// shown returns an argument as Redis shows it in the text of an error: as a string of C,
// which ends before the first NUL.
func shown(arg []byte) []byte {
	text, _, _ := bytes.Cut(arg, []byte{0})
	return text
}

// beginning returns the first bytes, n at most, of what is shown of an argument.
func beginning(arg []byte, n int) []byte {
	text := shown(arg)
	return text[:min(n, len(text))]
}

func wrongArity(name string) error {
	return route.Refuse("ERR wrong number of arguments for '" + name + "' command")
}

// unsupported is the error for commands that Redis 7.0 has and Quoll does not.
func unsupported(name string) error {
	return route.Refuse("ERR '" + strings.ToUpper(name) + "' is not supported yet by Quoll; nothing was done. The connection can be used on")
}
