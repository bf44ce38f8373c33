package loglimit

import (
	"strconv"
	"strings"
)

// maxShape is how much of a message tells its kind: what follows is often what somebody sent.
const maxShape = 60

// shape is a message without its numbers, of which addresses are made, too.
func shape(message string) string {
	if len(message) > maxShape {
		message = message[:maxShape]
	}
	var b strings.Builder
	number := false
	for _, c := range []byte(message) {
		digit := '0' <= c && c <= '9'
		if !digit {
			b.WriteByte(c)
		} else if !number {
			b.WriteByte('#')
		}
		number = digit
	}
	return b.String()
}

// count writes a number with commas: 12,990.
func count(n int) string {
	text := strconv.Itoa(n)
	for i := len(text) - 3; i > 0; i -= 3 {
		text = text[:i] + "," + text[i:]
	}
	return text
}
