package resp

import (
	"bytes"

	"github.com/tidwall/redcon"
)

// longestLength is the longest line with a length that Value looks at, without its end.
const longestLength = len("$2147483647")

// Value takes apart the reply of RESP2 that b begins with, unless it is an array. It returns its first byte ('+', '-', ':' or '$') and its text without what
// frames it, which is part of b; the text of a null is nil. The kind is 0 if there is no such reply, or not the whole of it.
func Value(b []byte) (kind byte, text []byte) {
	// redcon goes as deep as arrays are nested, and adds to a length without a look at what comes out.
	if len(b) == 0 || b[0] == '*' || b[0] == '$' && bytes.IndexByte(b, '\r') > longestLength {
		return 0, nil
	}
	_, reply := redcon.ReadNextRESP(b)
	return byte(reply.Type), reply.Data
}
