package proxy

import (
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
)

// dbSize is DBSIZE.
func (s *session) dbSize(dst []byte, _ [][]byte) []byte {
	n, err := s.server.cluster.DBSize(s.server.ctx)
	if err != nil {
		return route.AppendReply(dst, err)
	}
	return resp.AppendInt(dst, n)
}

// randomKey is RANDOMKEY.
func (s *session) randomKey(dst []byte, _ [][]byte) []byte {
	key, err := s.server.cluster.RandomKey(s.server.ctx)
	switch {
	case err != nil:
		return route.AppendReply(dst, err)
	case key == nil:
		return resp.AppendNull(dst, s.resp3)
	}
	return resp.AppendBulk(dst, key)
}

// flushAll is FLUSHALL and FLUSHDB [ASYNC|SYNC], which are the same with one
// database. It always waits until every slot is cleared.
func (s *session) flushAll(dst []byte, args [][]byte) []byte {
	if len(args) > 2 || len(args) == 2 && !is(args[1], "ASYNC") && !is(args[1], "SYNC") {
		return route.AppendReply(dst, errSyntax)
	}
	if err := s.server.cluster.FlushAll(s.server.ctx); err != nil {
		return route.AppendReply(dst, err)
	}
	return append(dst, resp.OK...)
}
