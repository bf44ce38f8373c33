package session

import (
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/resp"
)

// A client that is READONLY takes what is old for what it reads: it is what the nearest replica has, if that was chosen once (register/protocol.md, "Reads of one replica").
// https://redis.io/docs/latest/commands/readonly/

// runReadOnly is READONLY.
func runReadOnly(s *Session, dst []byte, _ [][]byte) []byte {
	s.readonly = true
	return append(dst, resp.OK...)
}

// runReadWrite is READWRITE, the default.
func runReadWrite(s *Session, dst []byte, _ [][]byte) []byte {
	s.readonly = false
	return append(dst, resp.OK...)
}

// readsNearest reports whether the client may be told what is old. Who watches keys, or keeps what it has read until it is told of a change (CLIENT TRACKING), may have been told of the change already.
func (s *Session) readsNearest() bool {
	tracks := s.tracking.on
	if s.replica { // some libraries always track, only what they ask for: rueidis
		tracks = s.tracking.broadcast || s.tracking.tracks()
	}
	return s.readonly && !tracks && len(s.watches.list) == 0
}

// readNearest has operations that were planned, from one on, read the nearest replica, if the client wants that.
func (s *Session) readNearest(from int) {
	if !s.readsNearest() {
		return
	}
	ops := s.plan.batch.Ops
	for i := from; i < len(ops); i++ {
		ops[i].Nearest = !ops[i].Write
	}
}

// servedHere reports whether a client that is READONLY is answered by this node, though another one is the home of the slot.
func (s *Session) servedHere(cmd *command.Command, args [][]byte, slot uint16) bool {
	if s.replica {
		return s.servedByReplica(cmd, args) && s.topology().Holds(slot)
	}
	return s.readsNearest() && cmd.Flags&command.FlagReadOnly != 0 && s.service.cfg.Topology.Holds(slot)
}
