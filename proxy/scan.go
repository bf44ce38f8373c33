package proxy

import (
	"strconv"

	"github.com/quolldb/quoll/internal/resp"
)

const (
	// defaultScanCount is SCAN's COUNT, as in Redis; maxScanCount is what larger ones
	// count as, since COUNT is a hint and one reply should not hold the whole cluster.
	defaultScanCount = 10
	maxScanCount     = 100_000
	// keysScanCount is how many keys KEYS asks for at a time.
	keysScanCount = 4096
)

// scanOptions are the options of SCAN.
type scanOptions struct {
	cursor   Cursor
	count    int
	pattern  []byte // nil for every key
	typeName []byte // nil for every type
}

// scan is SCAN cursor [MATCH pattern] [COUNT count] [TYPE type],
// https://redis.io/commands/scan/.
func (s *session) scan(dst []byte, args [][]byte) []byte {
	opts, err := parseScan(args)
	if err != nil {
		return AppendReply(dst, err)
	}
	entries, next, err := s.server.cluster.Scan(s.server.ctx, opts.cursor, opts.count)
	if err != nil {
		return AppendReply(dst, err)
	}
	matching := entries[:0]
	for _, entry := range entries {
		if opts.matches(entry) {
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

func parseScan(args [][]byte) (opts scanOptions, err error) {
	if opts.cursor, err = parseCursor(args[1]); err != nil {
		return opts, err
	}
	opts.count = defaultScanCount
	for rest := args[2:]; len(rest) > 0; rest = rest[2:] {
		if len(rest) == 1 {
			return opts, errSyntax
		}
		switch {
		case is(rest[0], "COUNT"):
			n, ok := resp.ParseInt(rest[1])
			if !ok {
				return opts, errNotInteger
			}
			if n < 1 {
				return opts, errSyntax
			}
			opts.count = int(min(n, maxScanCount))
		case is(rest[0], "MATCH"):
			opts.pattern = rest[1]
		case is(rest[0], "TYPE"):
			opts.typeName = rest[1]
		default:
			return opts, errSyntax
		}
	}
	return opts, nil
}

// parseCursor reads a cursor as Redis does, with C's strtoul: signs are allowed (-1 is the
// highest cursor) and nothing at all is 0.
func parseCursor(arg []byte) (Cursor, error) {
	digits := shown(arg)
	if len(digits) == 0 {
		return 0, nil
	}
	negative := digits[0] == '-'
	if negative || digits[0] == '+' {
		digits = digits[1:]
	}
	n, err := strconv.ParseUint(string(digits), 10, 64)
	if err != nil {
		return 0, errBadCursor
	}
	if negative {
		n = -n
	}
	return Cursor(n), nil
}

func (o *scanOptions) matches(entry ScanEntry) bool {
	return (o.pattern == nil || globMatch(o.pattern, entry.Key)) &&
		(o.typeName == nil || is(o.typeName, entry.Type.String()))
}

// keys is KEYS pattern. Its reply may not be larger than the output limit.
func (s *session) keys(dst []byte, args [][]byte) []byte {
	var list []byte
	found := 0
	for cursor := Cursor(0); ; {
		entries, next, err := s.server.cluster.Scan(s.server.ctx, cursor, keysScanCount)
		if err != nil {
			return AppendReply(dst, err)
		}
		for _, entry := range entries {
			if globMatch(args[1], entry.Key) {
				list = resp.AppendBulk(list, entry.Key)
				found++
			}
		}
		if len(list) > s.server.cfg.OutputLimit {
			return AppendReply(dst, errKeysTooLarge)
		}
		if next == 0 {
			return append(resp.AppendArray(dst, found), list...)
		}
		cursor = next
	}
}
