// Package lcs computes the LCS command: the longest common subsequence of two
// values. It stands alone because two keys may live on two nodes, so the proxy
// computes it from the values, and the proxy imports nothing of the node.
//
// It is pure: no I/O, no clock, nothing kept between calls.
package lcs

import (
	"strconv"

	"github.com/quolldb/quoll/internal/resp"
)

// maxCells bounds the table, len(a)+1 by len(b)+1 cells, and with it the time of one
// call (about a second). It is the limit of Redis 7.0 with its default
// proto-max-bulk-len, though the table is smaller here: one bit for a cell, 16 MiB.
const maxCells = 512 << 20 / 4

const (
	errSyntax     = "ERR syntax error"
	errNotInteger = "ERR value is not an integer or out of range"
	errBoth       = "ERR If you want both the length and indexes, please just use IDX."
	errMemory     = "ERR Insufficient memory, transient memory for LCS exceeds proto-max-bulk-len"
)

// LCS appends the reply of LCS for the values a and b (empty for an absent key) to
// dst. args are the options after the keys: LEN, IDX, MINMATCHLEN n, WITHMATCHLEN. It
// keeps nothing of its arguments. Among several longest subsequences it chooses the
// one that Redis 7.0 chooses. See https://redis.io/commands/lcs.
func LCS(dst, a, b []byte, args [][]byte, resp3 bool) []byte {
	opts, problem := parseOptions(args)
	if problem != "" {
		return resp.AppendError(dst, problem)
	}
	if uint64(len(a)+1)*uint64(len(b)+1) > maxCells {
		return resp.AppendError(dst, errMemory)
	}
	if opts.length {
		length, _ := fill(a, b, false)
		return resp.AppendInt(dst, int64(length))
	}
	length, steps := fill(a, b, true)
	if opts.indexes {
		return appendIndexes(dst, trace(a, b, steps, nil), length, opts, resp3)
	}
	common := make([]byte, length)
	trace(a, b, steps, common)
	return resp.AppendBulk(dst, common)
}

type options struct {
	length, indexes, withMatchLen bool
	minMatchLen                   int64
}

func parseOptions(args [][]byte) (opts options, problem string) {
	for i := 0; i < len(args); i++ {
		switch name := lower(args[i]); {
		case name == "idx":
			opts.indexes = true
		case name == "len":
			opts.length = true
		case name == "withmatchlen":
			opts.withMatchLen = true
		case name == "minmatchlen" && i+1 < len(args):
			i++
			var ok bool
			if opts.minMatchLen, ok = parseInt(args[i]); !ok {
				return opts, errNotInteger
			}
		default:
			return opts, errSyntax
		}
	}
	if opts.length && opts.indexes {
		return opts, errBoth
	}
	return opts, ""
}

// lower returns an option name in lower case, "" for what is too long to be one.
func lower(arg []byte) string {
	if len(arg) > len("withmatchlen") {
		return ""
	}
	name := make([]byte, len(arg))
	for i, c := range arg {
		if 'A' <= c && c <= 'Z' {
			c += 'a' - 'A'
		}
		name[i] = c
	}
	return string(name)
}

// parseInt reads an integer in the one form that Redis accepts: as it writes them.
func parseInt(arg []byte) (int64, bool) {
	n, err := strconv.ParseInt(string(arg), 10, 64)
	return n, err == nil && strconv.FormatInt(n, 10) == string(arg)
}

// appendIndexes replies the matches and the length.
func appendIndexes(dst []byte, matches []match, length int, opts options, resp3 bool) []byte {
	shown := matches[:0]
	for _, m := range matches {
		if m.len() >= opts.minMatchLen {
			shown = append(shown, m)
		}
	}
	dst = resp.AppendMap(dst, 2, resp3)
	dst = resp.AppendBulk(dst, "matches")
	dst = resp.AppendArray(dst, len(shown))
	for _, m := range shown {
		dst = m.append(dst, opts.withMatchLen)
	}
	dst = resp.AppendBulk(dst, "len")
	return resp.AppendInt(dst, int64(length))
}
