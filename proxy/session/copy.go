package session

import (
	"bytes"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
	"github.com/quolldb/quoll/ring"
)

// runCopy is COPY source destination [DB 0] [REPLACE],
// https://redis.io/commands/copy/. It reads the source and then writes the
// destination; each is atomic, and a write to the source in between is not copied.
func runCopy(s *Session, dst []byte, args [][]byte) []byte {
	replace, err := parseCopy(args)
	if err != nil {
		return route.AppendReply(dst, err)
	}
	dumped := s.execute(command.Request{Op: command.OpDumpState, Args: [][]byte{[]byte("DUMPSTATE"), args[1]}}, false)
	if dumped.Outcome != answer.Done || dumped.Reply[0] == '-' {
		return append(dst, dumped.Reply...)
	}
	state := bulkValue(dumped.Reply)
	if state == nil {
		return resp.AppendInt(dst, 0)
	}
	restore := [][]byte{[]byte("RESTORESTATE"), args[2], state}
	if replace {
		restore = append(restore, []byte("REPLACE"))
	}
	restored := s.execute(command.Request{Op: command.OpRestoreState, Args: restore}, true)
	return append(dst, restored.Reply...)
}

func parseCopy(args [][]byte) (replace bool, err error) {
	source, destination := args[1], args[2]
	if ring.SlotOf(source) != ring.SlotOf(destination) {
		return false, errCrossSlot
	}
	for rest := args[3:]; len(rest) > 0; {
		switch {
		case is(rest[0], "REPLACE"):
			replace, rest = true, rest[1:]
		case is(rest[0], "DB") && len(rest) >= 2:
			if err := checkDB(rest[1]); err != nil {
				return false, err
			}
			rest = rest[2:]
		default:
			return false, errSyntax
		}
	}
	if bytes.Equal(source, destination) {
		return false, errSameObject
	}
	return replace, nil
}

// execute executes one operation by itself.
func (s *Session) execute(req command.Request, write bool) route.Op {
	var batch route.Batch
	batch.Add(req, write)
	s.service.cluster.Execute(&batch)
	return batch.Ops[0]
}
