package session

import (
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/database"
	"github.com/quolldb/quoll/internal/protocol/answer"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
)

// runSelect is SELECT.
func runSelect(s *Session, dst []byte, args [][]byte) []byte {
	number, problem := command.Database(args[1])
	if problem != "" {
		return route.AppendReply(dst, route.Refuse(problem))
	}
	s.setDatabase(number)
	return append(dst, resp.OK...)
}

func (s *Session) setDatabase(number int) {
	s.database = number
	s.info.database.Store(int64(number))
}

// runDBSize is DBSIZE.
func runDBSize(s *Session, dst []byte, _ [][]byte) []byte {
	n, err := s.service.cluster.DBSize(s.conn.Server().Context(), s.database)
	if err != nil {
		return route.AppendReply(dst, err)
	}
	return resp.AppendInt(dst, n)
}

// runRandomKey is RANDOMKEY.
func runRandomKey(s *Session, dst []byte, _ [][]byte) []byte {
	key, err := s.service.cluster.RandomKey(s.conn.Server().Context(), s.database)
	switch {
	case err != nil:
		return route.AppendReply(dst, err)
	case key == nil:
		return resp.AppendNull(dst, s.resp3)
	}
	return resp.AppendBulk(dst, key)
}

// flushKeys is how many keys FLUSHDB deletes at a time.
const flushKeys = 1024

var (
	flushName        = []byte("flushkey")
	errPartlyFlushed = &route.ReplyError{Outcome: answer.Unknown, Text: "UNKNOWN not every key of the database could be deleted within the operation time-out. Repeating FLUSHDB is safe"}
)

// runFlushDB is FLUSHDB [ASYNC|SYNC]. Slots have keys of all databases, so those of this one are deleted one by one: all that were there when it began.
func runFlushDB(s *Session, dst []byte, args [][]byte) []byte {
	if !flushMode(args) {
		return route.AppendReply(dst, errSyntax)
	}
	s.service.tracked.flush(s)
	id := s.service.cluster.Placements().ID(s.database)
	for cursor := route.Cursor(0); ; {
		entries, next, err := s.service.cluster.Scan(s.conn.Server().Context(), s.database, cursor, flushKeys)
		if err == nil {
			err = s.deleteKeys(id, entries)
		}
		if err != nil {
			return route.AppendReply(dst, err)
		}
		if next == 0 {
			return append(dst, resp.OK...)
		}
		cursor = next
	}
}

// deleteKeys deletes keys of a database.
func (s *Session) deleteKeys(id database.ID, entries []route.ScanEntry) error {
	for len(entries) > 0 {
		n := min(len(entries), flushKeys)
		var batch route.Batch
		for _, e := range entries[:n] {
			batch.Add(command.Request{Op: command.OpFlushKey, Args: [][]byte{flushName, id.Key(e.Key)}}, true)
		}
		entries = entries[n:]
		s.executeAtOnce(&batch)
		for i := range batch.Ops {
			if batch.Ops[i].Outcome != answer.Done {
				return errPartlyFlushed
			}
		}
	}
	return nil
}

// runFlushAll is FLUSHALL [ASYNC|SYNC]. It always waits until every slot is cleared.
func runFlushAll(s *Session, dst []byte, args [][]byte) []byte {
	if !flushMode(args) {
		return route.AppendReply(dst, errSyntax)
	}
	s.service.tracked.flush(s)
	s.unheld.wroteAll()
	if err := s.keepingScripts(func() error { return s.service.cluster.FlushAll(s.conn.Server().Context(), libraries) }); err != nil {
		return route.AppendReply(dst, err)
	}
	return append(dst, resp.OK...)
}

// flushMode reports whether the arguments of FLUSHALL or FLUSHDB are right.
func flushMode(args [][]byte) bool {
	return len(args) == 1 || len(args) == 2 && (is(args[1], "ASYNC") || is(args[1], "SYNC"))
}
