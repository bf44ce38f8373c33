package datatype

import (
	"github.com/quolldb/quoll/internal/buffer"
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/record"
	"github.com/quolldb/quoll/internal/resp"
)

// appendTo serves APPEND.
func appendTo(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	if holdsOther(st, record.String) {
		return refuse(dst, errWrongType)
	}
	tail := req.Args[2]
	from := len(st.Value)
	if len(tail) > longest(req)-from {
		return refuse(dst, ErrTooLong)
	}
	value := resized(st.Value, from+len(tail))
	buffer.Copy(value[from:], tail)
	return resp.AppendInt(dst, int64(len(value))), spliced(st, value, from, len(value))
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
		return resp.AppendInt(dst, int64(len(st.Value))), noEffect
	}
	if most := longest(req); offset > int64(most) || len(patch) > most-int(offset) {
		return refuse(dst, ErrTooLong)
	}
	from, to := int(offset), int(offset)+len(patch)
	value := resized(st.Value, max(len(st.Value), to))
	buffer.Copy(value[from:], patch)
	return resp.AppendInt(dst, int64(len(value))), spliced(st, value, from, to)
}

// getRange serves GETRANGE and SUBSTR.
func getRange(dst []byte, st record.State, req *command.Request, _ int64) ([]byte, record.Effect) {
	start, ok := parseInt(req.Args[2])
	end, endOK := parseInt(req.Args[3])
	if !ok || !endOK {
		return refuse(dst, errNotInteger)
	}
	if holdsOther(st, record.String) {
		return refuse(dst, errWrongType)
	}
	if reversed(start, end) {
		return resp.AppendBulk(dst, ""), noEffect
	}
	start, end = clampRange(start, end, int64(len(st.Value)))
	if start > end {
		return resp.AppendBulk(dst, ""), noEffect
	}
	return resp.AppendBulk(dst, st.Value[start:end+1]), noEffect
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
