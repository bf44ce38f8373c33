package session

import (
	"fmt"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/proxy/route"
	"github.com/quolldb/quoll/ring"
)

// moved tells a client of a Redis Cluster to send a command to another node, the home of its keys, and reports whether it did. The command is not executed then. It could be, by any node: so what
// has keys of several slots is executed here, and what is part of a transaction, of which a client would have to send all once more.
func (s *Session) moved(cmd *command.Command, args [][]byte) bool {
	slot, ok := slotOf(cmd, args)
	if !ok && s.replica {
		slot, ok = s.slotElsewhere(cmd, args)
	}
	if !ok {
		return false
	}
	address, elsewhere := s.topology().Elsewhere(slot)
	if elsewhere = elsewhere && !s.servedHere(cmd, args, slot); elsewhere {
		s.reject(cmd, args, route.Refuse(fmt.Sprintf("MOVED %d %s", slot, address)))
	}
	return elsewhere
}

// slotOf returns the slot that all keys of a command are in. WATCH is for the transaction that follows, and channels are no keys.
func slotOf(cmd *command.Command, args [][]byte) (slot uint16, ok bool) {
	if cmd.Route == command.RouteUnsupported || cmd.Op == command.OpWatch || cmd.Flags&command.FlagPubSub != 0 {
		return 0, false
	}
	if first, last, _ := cmd.Keys(len(args)); first > 0 && first == last {
		return ring.SlotOf(args[first]), true
	}
	called := cmd.Called(args)
	if called == nil {
		return 0, false
	}
	keys, ok := called.AllKeys(args)
	if !ok || len(keys) == 0 || !sameSlot(keys) {
		return 0, false
	}
	return ring.SlotOf(keys[0]), true
}
