package session

import (
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/ring"
)

// together plans a command on several keys that have to be in one slot: they are read and written at once.
func (s *Session) together(cmd *command.Command, args [][]byte) {
	if _, reads := cmd.ReadingOp(args); reads {
		s.read(cmd, args)
		return
	}
	keys, ok := command.ByOp(cmd.Sent()).AllKeys(args)
	switch {
	case !ok || len(keys) == 0: // it is wrong, and a node says how
		keys = [][]byte{anywhere(cmd.Name)}
	case !sameSlot(keys):
		s.refuse(cmd.Op, errSlots(keys))
		return
	case s.alone(cmd, args, keys):
		return
	}
	s.plan.together(cmd, args, keys[0], s.resp3)
}

// read plans a read of one key. SORT that stores nothing may look up others: which these are a node finds out when it sorts (see eval.go).
func (s *Session) read(cmd *command.Command, args [][]byte) {
	if cmd.Op != command.OpSort && cmd.Op != command.OpSortRO || !command.SortLooksUp(args) {
		s.plan.one(cmd, args, false, s.resp3)
		return
	}
	s.plan.send(cmd, args, command.Request{Op: command.OpSortRO, Args: args}, args[1], s.resp3)
}

// oneSlot returns the first key of a command that has several, all in one slot, so that it can be executed at once; else nil.
func oneSlot(cmd *command.Command, args [][]byte) []byte {
	first, last, step := cmd.Keys(len(args))
	if last <= first {
		return nil
	}
	slot := ring.SlotOf(args[first])
	for i := first + step; i <= last; i += step {
		if ring.SlotOf(args[i]) != slot {
			return nil
		}
	}
	return args[first]
}

// sameSlot reports whether all keys are in one slot.
func sameSlot(keys [][]byte) bool {
	for _, key := range keys[1:] {
		if ring.SlotOf(key) != ring.SlotOf(keys[0]) {
			return false
		}
	}
	return true
}

// together plans a command as an operation on all its keys, of which the first is given.
func (p *plan) together(cmd *command.Command, args [][]byte, key []byte, resp3 bool) {
	p.send(cmd, args, command.Request{Op: cmd.Sent(), Args: args}, key, resp3)
}

// send plans a command as an operation on all its keys, of which one is given, in the form in which a node executes it.
func (p *plan) send(cmd *command.Command, args [][]byte, sent command.Request, key []byte, resp3 bool) {
	p.sendBatch(cmd, args, &command.Batch{Commands: []command.Request{sent}}, key, resp3)
}

// sendBatch plans a command as a batch of one.
func (p *plan) sendBatch(cmd *command.Command, args [][]byte, batch *command.Batch, key []byte, resp3 bool) {
	first := p.batch.Add(batch.Request(key, resp3), command.ByOp(batch.Commands[0].Op).Writes())
	p.commands = append(p.commands, planned{cmd: cmd, args: args, first: first, count: 1, whole: true})
}
