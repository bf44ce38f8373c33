package session

import (
	"math"

	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
)

// slowlogCommand is SLOWLOG, https://redis.io/commands/slowlog/: of the proxy's clients.
var slowlogCommand = container{"SLOWLOG", []subcommand{
	{"GET", -2, slowlogGet, []string{
		"GET [<count>]", "Return top <count> entries from the slowlog (default: 10, -1 mean all).", "Entries are made of:",
		"id, timestamp, time in microseconds, arguments array, client IP and port,", "client name",
	}},
	{"LEN", 2, slowlogLen, []string{"LEN", "Return the length of the slowlog."}},
	{"RESET", 2, slowlogReset, []string{"RESET", "Reset the slowlog."}},
}}

// slowlogGet is SLOWLOG GET [count].
func slowlogGet(s *Session, dst []byte, args [][]byte) []byte {
	if len(args) > 3 {
		return route.AppendReply(dst, misused("SLOWLOG", args))
	}
	count := int64(10)
	if len(args) == 3 {
		n, ok := resp.ParseInt(args[2])
		if !ok || n < -1 {
			return route.AppendReply(dst, route.Refuse("ERR count should be greater than or equal to -1"))
		}
		if count = n; n == -1 {
			count = math.MaxInt64
		}
	}
	list := s.service.look.slowlog.latest(int(min(count, maxSlowlog)))
	dst = resp.AppendArray(dst, len(list))
	for i := range list {
		e := &list[i]
		dst = resp.AppendArray(dst, 6)
		dst = resp.AppendInt(dst, e.id)
		dst = resp.AppendInt(dst, e.at.Unix())
		dst = resp.AppendInt(dst, e.took.Microseconds())
		dst = resp.AppendArray(dst, len(e.args))
		for _, arg := range e.args {
			dst = resp.AppendBulk(dst, arg)
		}
		dst = resp.AppendBulk(resp.AppendBulk(dst, e.client), e.name)
	}
	return dst
}

func slowlogLen(s *Session, dst []byte, _ [][]byte) []byte {
	return resp.AppendInt(dst, int64(s.service.look.slowlog.len()))
}

func slowlogReset(s *Session, dst []byte, _ [][]byte) []byte {
	s.service.look.slowlog.reset()
	return append(dst, resp.OK...)
}
