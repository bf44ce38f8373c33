package scan

// Match reports whether s matches the pattern as Redis' KEYS and SCAN MATCH
// mean it: * any bytes, ? one byte, [abc] [a-z] [^a] classes, \ takes the next byte
// literally. Odd patterns (an unclosed class, a range the wrong way round, a
// backslash at the end) mean what they mean to Redis' stringmatchlen.
//
// It takes at most len(pattern)*len(s) steps whatever the pattern: when something
// after the last * does not match, only that * is extended, because an earlier one
// could not help where the last could not.
func Match(pattern, s []byte) bool {
	p, i := 0, 0
	afterStar, from := -1, 0
	for i < len(s) {
		if p < len(pattern) {
			if pattern[p] == '*' {
				p++
				afterStar, from = p, i
				continue
			}
			if n, ok := globOne(pattern[p:], s[i]); ok {
				p += n
				i++
				continue
			}
		}
		if afterStar < 0 {
			return false
		}
		from++
		p, i = afterStar, from
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}

// MatchChannel is Match as PSUBSCRIBE and PUBSUB mean it: as in Redis no pattern matches an empty channel but the empty one.
func MatchChannel(pattern, channel []byte) bool {
	return (len(channel) > 0 || len(pattern) == 0) && Match(pattern, channel)
}

// globOne matches c against the first element of the pattern, which is not empty
// and does not begin with *, and returns the length of that element.
func globOne(pattern []byte, c byte) (n int, ok bool) {
	switch pattern[0] {
	case '?':
		return 1, true
	case '[':
		return globClass(pattern, c)
	case '\\':
		if len(pattern) >= 2 {
			return 2, pattern[1] == c
		}
	}
	return 1, pattern[0] == c
}

// globClass matches c against the class at the beginning of the pattern. A class
// that is never closed ends with the pattern.
func globClass(pattern []byte, c byte) (n int, ok bool) {
	i := 1
	negated := i < len(pattern) && pattern[i] == '^'
	if negated {
		i++
	}
	for i < len(pattern) {
		rest := pattern[i:]
		switch {
		case rest[0] == '\\' && len(rest) >= 2:
			ok = ok || rest[1] == c
			i += 2
		case rest[0] == ']':
			return i + 1, ok != negated
		case len(rest) >= 3 && rest[1] == '-':
			low, high := min(rest[0], rest[2]), max(rest[0], rest[2])
			ok = ok || low <= c && c <= high
			i += 3
		default:
			ok = ok || rest[0] == c
			i++
		}
	}
	return i, ok != negated
}
