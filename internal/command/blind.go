package command

import "github.com/quolldb/quoll/internal/resp"

// maxBlindExpiry bounds the relative expiry of a blind write, in seconds or
// milliseconds: far above what anybody means, and far below the values that
// Redis refuses as "invalid expire time" because they overflow.
const maxBlindExpiry = 1 << 52

// Blind reports whether neither the reply of a request nor the state it leaves
// depend on the state it finds, so that the home may execute it without knowing
// that state. In doubt it is false. A request with a syntax error is not
// blind: it leaves the state that it finds.
func Blind(req *Request) bool {
	args := req.Args
	switch req.Op {
	case OpSet:
		return len(args) == 3 || len(args) == 5 && isRelativeExpiry(args[3]) && isExpiry(args[4])
	case OpSetEX, OpPSetEX:
		return len(args) == 4 && isExpiry(args[2])
	}
	return false
}

// isRelativeExpiry reports whether a SET option is EX or PX. EXAT and PXAT are
// not blind: with a time in the past the command deletes.
func isRelativeExpiry(option []byte) bool {
	return equalFold("ex", option) || equalFold("px", option)
}

func isExpiry(arg []byte) bool {
	n, ok := resp.ParseInt(arg)
	return ok && 0 < n && n <= maxBlindExpiry
}
