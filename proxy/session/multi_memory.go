package session

import (
	"bytes"
	"time"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/proxy/route"
)

// Redis refuses what may use memory when it is queued, if there is none. A proxy does not know whether there is, and it does not ask for each transaction: only once somebody was refused for want of
// memory, or CONFIG SET changed how much there may be, and for a while after that, does it ask the nodes of the transaction's keys.

// shortFor is how long transactions ask whether there is memory once a command was refused for want of it.
const shortFor = 10 * time.Second

// memoryMayBeShort has transactions ask from now on.
func (s *Stats) memoryMayBeShort() { s.refusedMemory.Store(time.Now().UnixMilli()) }

// short reports whether memory was short of late.
func (s *Stats) short() bool {
	last := s.refusedMemory.Load()
	return last != 0 && time.Now().UnixMilli()-last < shortFor.Milliseconds()
}

// wantsMemory reports whether a command that is to be queued is the first of its transaction for which it is to be asked whether there is memory.
func (s *Session) wantsMemory(cmd *command.Command) bool {
	t := &s.multi
	return t.open && !t.failed && !t.asked && cmd.Flags&command.FlagDenyOOM != 0 && s.service.stats.short()
}

// room says why there is no memory for a command that is being queued, nil if there is, or if nobody says. What it asks for changes nothing, and is refused where
// what makes the data grow is.
func (s *Session) room(q *queued) error {
	if s.planning || q.op == command.OpNone || s.multi.key == nil || !s.wantsMemory(q.cmd) {
		return nil
	}
	s.finish()
	if s.conn.Broken() {
		return nil
	}
	s.multi.asked = true
	return s.roomAt(s.multi.key)
}

// roomForFunctions says why there is no memory for a library, nil if there is, or if nobody says. Libraries are kept under a key of Quoll's own, which takes what clients' keys do not: so it is asked for one of theirs.
func (s *Session) roomForFunctions() error {
	if !s.service.stats.short() {
		return nil
	}
	return s.roomAt([]byte("library"))
}

// roomAt asks the nodes of a client's key whether there is memory.
func (s *Session) roomAt(key []byte) error {
	var batch route.Batch
	batch.Add(command.Request{Op: command.OpSetRange, Args: [][]byte{[]byte("setrange"), key, []byte("0"), {}}}, true)
	s.conn.Execute(&batch)
	if bytes.Equal(batch.Ops[0].Reply, outOfMemory) {
		return route.ErrOutOfMemory
	}
	return nil
}
