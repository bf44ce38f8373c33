//go:build unix

package differential

import (
	"slices"
	"strings"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/ring"
)

// placeholder is what Redis is sent instead of a command that it must not execute.
var placeholder = []string{"ECHO", "Quoll refuses this command"}

// refusals are what Quoll answers to subcommands that would change what Redis does
// afterwards.
var refusals = []struct {
	name string
	// arity is as in the table of commands: with another number of arguments both servers
	// complain.
	arity int
	reply string
}{
	{"CLIENT PAUSE", -3, "-ERR CLIENT PAUSE is not supported: it could pause the clients of one proxy only\r\n"},
	{"COMMAND GETKEYSANDFLAGS", -4, "-ERR COMMAND GETKEYSANDFLAGS is not supported yet by Quoll; see COMMAND GETKEYS\r\n"},
	{"CONFIG SET", -4, "-ERR CONFIG SET is not supported: start quoll with other flags, or change its configuration file, instead\r\n"},
	{"MEMORY STATS", 2, "-ERR MEMORY STATS is not supported by Quoll; see INFO memory and the metrics endpoint\r\n"},
}

// refusal returns the reply that Quoll must give to a command which it does not support and
// which Redis therefore is not sent, "" for all others.
func refusal(args []string) string {
	if len(args) == 0 {
		return ""
	}
	cmd := command.Lookup([]byte(args[0]))
	if cmd != nil && cmd.Route == command.RouteUnsupported && cmd.ArityOK(len(args)) {
		return "-ERR '" + strings.ToUpper(cmd.Name) + "' is not supported yet by Quoll; nothing was done. The connection can be used on\r\n"
	}
	if cmd != nil && cmd.Route == command.RouteSlot && cmd.ArityOK(len(args)) && inSeveralSlots(cmd, args) {
		return refusedSlots
	}
	if len(args) > 2 && strings.EqualFold(strings.Join(args[:2], " "), "CLIENT TRACKING") && !tracksNothing(args[2:]) {
		return "-ERR CLIENT TRACKING and client-side caching are not supported yet by Quoll. Only the mode OPTIN can be asked for, which tracks nothing by itself\r\n"
	}
	for _, r := range refusals {
		complete := len(args) == r.arity || r.arity < 0 && len(args) >= -r.arity
		if complete && strings.EqualFold(strings.Join(args[:2], " "), r.name) {
			return r.reply
		}
	}
	return ""
}

const refusedSlots = "-CROSSSLOT Keys in request don't hash to the same slot\r\n"

// inSeveralSlots reports whether a command that has to be on keys of one slot is not.
func inSeveralSlots(cmd *command.Command, args []string) bool {
	words := arguments(args)
	if _, reads := cmd.ReadingOp(words); reads {
		return false
	}
	keys, _ := cmd.AllKeys(words)
	return slices.ContainsFunc(keys, func(key []byte) bool { return ring.SlotOf(key) != ring.SlotOf(keys[0]) })
}

// arguments are the words of a command as it is sent.
func arguments(words []string) [][]byte {
	args := make([][]byte, len(words))
	for i, word := range words {
		args[i] = []byte(word)
	}
	return args
}

// tracksNothing reports whether options of CLIENT TRACKING ask for nothing but what Quoll has.
func tracksNothing(options []string) bool {
	var optIn bool
	for _, option := range options[1:] {
		switch strings.ToUpper(option) {
		case "OPTIN":
			optIn = true
		case "NOLOOP":
		default:
			return false
		}
	}
	return strings.EqualFold(options[0], "ON") && optIn || strings.EqualFold(options[0], "OFF") && !optIn
}
