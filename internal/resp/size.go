package resp

import "bytes"

// Size returns how long the reply is that b begins with, of RESP2 or RESP3, with all that is in it. It is 0 if there is none, or not the whole of it.
func Size(b []byte) int {
	size := 0
	for left := 1; left > 0; left-- { // replies that are still to come
		line := bytes.IndexByte(b[size:], '\n')
		if line < 2 || b[size+line-1] != '\r' {
			return 0
		}
		kind, text := b[size], b[size+1:size+line-1]
		size += line + 1
		switch kind {
		case '+', '-', ':', '_', '#', ',', '(':
			continue
		}
		n, ok := ParseInt(text)
		switch {
		case !ok || n > int64(len(b)):
			return 0
		case n < 0: // a null
			continue
		}
		switch kind {
		case '$', '=', '!':
			if n+2 > int64(len(b)-size) {
				return 0
			}
			size += int(n) + 2
		case '*', '~', '>':
			left += int(n)
		case '%':
			left += 2 * int(n)
		default:
			return 0
		}
		if left > len(b) { // none is shorter than a byte
			return 0
		}
	}
	return size
}
