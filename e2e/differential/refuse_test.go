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
	if cmd != nil && (cmd.Route == command.RouteSlot || cmd.Op == command.OpBLMove || cmd.Op == command.OpBRPopLPush) && cmd.ArityOK(len(args)) && inSeveralSlots(cmd, args) {
		return refusedSlots
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
