package session

import (
	"strconv"

	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/internal/scan"
	"github.com/quolldb/quoll/proxy/route"
)

// keysScanCount is how many keys KEYS asks for at a time.
const keysScanCount = 4096

// runScan is SCAN cursor [MATCH pattern] [COUNT count] [TYPE type],
// https://redis.io/commands/scan/.
func runScan(s *Session, dst []byte, args [][]byte) []byte {
	cursor, err := scan.ParseCursor(args[1])
	if err != nil {
		return route.AppendReply(dst, route.Refuse(err.Error()))
	}
	opts, err := scan.Parse(args[2:], true)
	if err != nil {
		return route.AppendReply(dst, route.Refuse(err.Error()))
	}
	entries, next, err := s.service.cluster.Scan(s.conn.Server().Context(), s.database, route.Cursor(cursor), opts.Count)
	if err != nil {
		return route.AppendReply(dst, err)
	}
	matching := entries[:0]
	for _, entry := range entries {
		if opts.Matches(entry.Key) && (opts.Type == nil || is(opts.Type, entry.Type.String())) {
			matching = append(matching, entry)
		}
	}
	dst = resp.AppendArray(dst, 2)
	dst = resp.AppendBulk(dst, strconv.FormatUint(uint64(next), 10))
	dst = resp.AppendArray(dst, len(matching))
	for _, entry := range matching {
		dst = resp.AppendBulk(dst, entry.Key)
	}
	return dst
}

// runKeys is KEYS pattern. Its reply may not be larger than the output limit.
func runKeys(s *Session, dst []byte, args [][]byte) []byte {
	var list []byte
	found := 0
	for cursor := route.Cursor(0); ; {
		entries, next, err := s.service.cluster.Scan(s.conn.Server().Context(), s.database, cursor, keysScanCount)
		if err != nil {
			return route.AppendReply(dst, err)
		}
		for _, entry := range entries {
			if scan.Match(args[1], entry.Key) {
				list = resp.AppendBulk(list, entry.Key)
				found++
			}
		}
		if len(list) > int(s.service.config.outputLimit.Load()) {
			return route.AppendReply(dst, errKeysTooLarge)
		}
		if next == 0 {
			return append(resp.AppendArray(dst, found), list...)
		}
		cursor = next
	}
}
