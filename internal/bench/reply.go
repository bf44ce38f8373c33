package bench

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// reply is the first line of an answer. The data of a bulk string follows it, and the elements of an array.
type reply struct {
	kind byte   // '+', '-', ':', '$', '*'
	text []byte // of '+' and '-'; belongs to the buffer that was read
	n    int64  // of ':', or the length of '$' and '*': -1 if there is none
}

// maxLine bounds the first line of an answer.
const maxLine = 4096

// errNotRESP says that what came is no answer to what was sent.
var errNotRESP = errors.New("this is not an answer in Redis' protocol")

// parse returns the first line in buf and how long it is, 0 if it is not complete.
func parse(buf []byte) (r reply, size int, err error) {
	if len(buf) == 0 {
		return reply{}, 0, nil
	}
	switch buf[0] {
	case '+', '-', ':', '$', '*':
	default:
		return reply{}, 0, notRESP(buf)
	}
	end := bytes.IndexByte(buf[:min(len(buf), maxLine)], '\n')
	switch {
	case end < 0 && len(buf) >= maxLine:
		return reply{}, 0, notRESP(buf)
	case end < 0:
		return reply{}, 0, nil
	case buf[end-1] != '\r':
		return reply{}, 0, notRESP(buf)
	}
	r.kind = buf[0]
	switch line := buf[1 : end-1]; r.kind {
	case '+', '-':
		r.text = line
	default:
		n, ok := integer(line)
		if !ok || r.kind != ':' && (n < -1 || n > 1<<30) {
			return reply{}, 0, notRESP(buf)
		}
		r.n = n
	}
	return r, end + 1, nil
}

// integer reads a number without allocating.
func integer(text []byte) (n int64, ok bool) {
	negative := len(text) > 0 && text[0] == '-'
	if negative {
		text = text[1:]
	}
	if len(text) == 0 || len(text) > 18 {
		return 0, false
	}
	for _, c := range text {
		if c < '0' || c > '9' {
			return 0, false
		}
		n = n*10 + int64(c-'0')
	}
	if negative {
		n = -n
	}
	return n, true
}

// notRESP quotes the beginning of what came.
func notRESP(buf []byte) error {
	line, _, _ := bytes.Cut(buf[:min(len(buf), 40)], []byte("\n"))
	return fmt.Errorf("%w: %s", errNotRESP, strconv.Quote(string(line)))
}
