package resp

// splitInline splits an inline command into arguments with the quoting rules of
// redis-cli (sdssplitargs): "..." with \n \r \t \b \a \xHH and \any, '...' with \'.
// A closing quote must be followed by a space. Arguments are unquoted in place,
// which works since they only become shorter. It appends their places to spans, and
// reports false for unbalanced quotes.
func splitInline(line []byte, spans []span) ([]span, bool) {
	for i := 0; ; {
		for i < len(line) && isSpace(line[i]) {
			i++
		}
		if i == len(line) {
			return spans, true
		}
		end, next, ok := unquote(line, i)
		if !ok {
			return spans, false
		}
		spans = append(spans, span{uint32(i), uint32(end - i)})
		i = next
	}
}

// SplitWords splits a line into words with the rules of inline commands. It reports false for unbalanced quotes. The words are the caller's.
func SplitWords(line []byte) (words [][]byte, ok bool) {
	own := append([]byte(nil), line...)
	spans, ok := splitInline(own, nil)
	for _, s := range spans {
		words = append(words, own[s.start:s.start+s.length])
	}
	return words, ok
}

// isHTTP reports whether a line is the first one of an HTTP/1 request: METHOD path HTTP/1.1. Browsers put no space into the path.
func isHTTP(line []byte) bool {
	const end = " HTTP/1.1"
	return len(line) >= len(end) && string(line[len(line)-len(end):len(line)-3]) == end[:len(end)-3]
}

// unquote copies the argument that begins at start down over itself. end is the end
// of the unquoted argument, next the place to go on from.
func unquote(line []byte, start int) (end, next int, ok bool) {
	out := start
	var quote byte // the quotes we are in, 0 for none
	for i := start; i < len(line); i++ {
		c := line[i]
		switch {
		case quote == 0 && endsWord(c):
			return out, i, true
		case quote == 0 && (c == '"' || c == '\''):
			quote = c
			continue
		case quote != 0 && c == quote:
			if i+1 < len(line) && !isSpace(line[i+1]) {
				return 0, 0, false
			}
			return out, i + 1, true
		case quote == '"' && c == '\\' && i+1 < len(line):
			var used int
			c, used = unescape(line[i+1:])
			i += used
		case quote == '\'' && c == '\\' && i+1 < len(line) && line[i+1] == '\'':
			c = '\''
			i++
		}
		line[out] = c
		out++
	}
	return out, len(line), quote == 0
}

// unescape returns the byte that stands for the escape sequence behind a backslash,
// and the length of the sequence. rest is not empty.
func unescape(rest []byte) (c byte, used int) {
	switch rest[0] {
	case 'n':
		return '\n', 1
	case 'r':
		return '\r', 1
	case 't':
		return '\t', 1
	case 'b':
		return '\b', 1
	case 'a':
		return '\a', 1
	case 'x':
		if len(rest) >= 3 {
			high, ok1 := hexDigit(rest[1])
			low, ok2 := hexDigit(rest[2])
			if ok1 && ok2 {
				return high<<4 | low, 3
			}
		}
	}
	return rest[0], 1
}

func hexDigit(c byte) (value byte, ok bool) {
	switch {
	case '0' <= c && c <= '9':
		return c - '0', true
	case 'a' <= c|0x20 && c|0x20 <= 'f':
		return (c | 0x20) - 'a' + 10, true
	}
	return 0, false
}

// isSpace is C's isspace. endsWord is narrower, as in Redis: a vertical tab within
// a word belongs to it.
func isSpace(c byte) bool { return c == ' ' || '\t' <= c && c <= '\r' }

func endsWord(c byte) bool { return c == ' ' || c == '\n' || c == '\r' || c == '\t' }
