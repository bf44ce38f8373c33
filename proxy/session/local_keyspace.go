package session

import (
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
)

// runDBSize is DBSIZE.
func runDBSize(s *Session, dst []byte, _ [][]byte) []byte {
	n, err := s.service.cluster.DBSize(s.conn.Server().Context())
	if err != nil {
		return route.AppendReply(dst, err)
	}
	return resp.AppendInt(dst, n)
}

// runRandomKey is RANDOMKEY.
func runRandomKey(s *Session, dst []byte, _ [][]byte) []byte {
	key, err := s.service.cluster.RandomKey(s.conn.Server().Context())
	switch {
	case err != nil:
		return route.AppendReply(dst, err)
	case key == nil:
		return resp.AppendNull(dst, s.resp3)
	}
	return resp.AppendBulk(dst, key)
}

// runFlushAll is FLUSHALL and FLUSHDB [ASYNC|SYNC], which are the same with one
// database. It always waits until every slot is cleared.
func runFlushAll(s *Session, dst []byte, args [][]byte) []byte {
	if len(args) > 2 || len(args) == 2 && !is(args[1], "ASYNC") && !is(args[1], "SYNC") {
		return route.AppendReply(dst, errSyntax)
	}
	if err := s.keepingScripts(func() error { return s.service.cluster.FlushAll(s.conn.Server().Context()) }); err != nil {
		return route.AppendReply(dst, err)
	}
	return append(dst, resp.OK...)
}
