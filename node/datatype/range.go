package datatype

import (
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// appendTo serves APPEND.
func appendTo(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.String) {
		return refuse(dst, errWrongType)
	}
	old, tail := textIn(st), req.Args[2]
	from, to := old.size(), old.size()+len(tail)
	if to > longest(req) {
		return refuse(dst, ErrTooLong)
	}
	d := old.draft(to)
	d.write(from, tail)
	return resp.AppendInt(dst, int64(to)), spliced(st, d.done(), from, to)
}

// setRange serves SETRANGE.
func setRange(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	offset, ok := parseInt(req.Args[2])
	if !ok {
		return refuse(dst, errNotInteger)
	}
	if offset < 0 {
		return refuse(dst, errOffset)
	}
	if holdsOther(st, record.String) {
		return refuse(dst, errWrongType)
	}
	patch := req.Args[3]
	if len(patch) == 0 {
		return resp.AppendInt(dst, int64(textIn(st).size())), noEffect
	}
	if most := longest(req); offset > int64(most) || len(patch) > most-int(offset) {
		return refuse(dst, ErrTooLong)
	}
	from, to := int(offset), int(offset)+len(patch)
	d := textIn(st).draft(to)
	d.write(from, patch)
	next := d.done()
	return resp.AppendInt(dst, int64(next.size())), spliced(st, next, from, to)
}

// getRange serves GETRANGE and SUBSTR.
func getRange(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	start, end, ok := parseInts(req.Args[2], req.Args[3])
	if !ok {
		return refuse(dst, errNotInteger)
	}
	if holdsOther(st, record.String) {
		return refuse(dst, errWrongType)
	}
	if reversed(start, end) {
		return resp.AppendBulk(dst, ""), noEffect
	}
	t := textIn(st)
	start, end = clampRange(start, end, int64(t.size()))
	if start > end {
		return resp.AppendBulk(dst, ""), noEffect
	}
	return t.appendBulk(dst, int(start), int(end+1)), noEffect
}

// reversed reports whether a range counts from the end and is empty. clampRange
// alone would make the first element of it when it is before the beginning.
func reversed(start, end int64) bool { return start < 0 && end < 0 && start > end }

// clampRange resolves a range (both ends included, negative ones counted from the
// end) in a sequence of n elements. The result is empty if start > end, else within
// [0, n).
func clampRange(start, end, n int64) (int64, int64) {
	if start < 0 {
		start = max(start+n, 0)
	}
	if end < 0 {
		end = max(end+n, 0)
	}
	return start, min(end, n-1)
}
