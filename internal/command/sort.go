package command

import "bytes"

// SortLooksUp reports whether SORT or SORT_RO names other keys, by a pattern of BY or GET: these are not among its keys, for which they are follows from the elements. What is wrong with the
// options is for a node to say.
func SortLooksUp(args [][]byte) bool {
	for i := 2; i < len(args); i++ {
		switch arg := args[i]; {
		case equalFold("limit", arg):
			i += 2
		case equalFold("store", arg):
			i++
		case (equalFold("by", arg) || equalFold("get", arg)) && i+1 < len(args):
			if i++; IsSortPattern(args[i]) {
				return true
			}
		}
	}
	return false
}

// IsSortPattern reports whether a pattern of BY or GET names other keys. As in Redis what is behind a zero byte is not looked at.
func IsSortPattern(pattern []byte) bool { return sortStar(pattern) >= 0 }

func sortStar(pattern []byte) int { return bytes.IndexByte(UntilZero(pattern), '*') }

// UntilZero returns a string of C: what is before the first zero byte. It is a view.
func UntilZero(b []byte) []byte {
	b, _, _ = bytes.Cut(b, []byte{0})
	return b
}

// SortedBy returns which key a pattern of BY or GET names for an element: its * is the element. With "->" and a name behind it, that is the field of a hash; field is nil without. The pattern is
// one that IsSortPattern accepts. See lookupKeyByPattern of Redis' sort.c.
func SortedBy(pattern, element []byte) (key, field []byte) {
	star := sortStar(pattern)
	before, behind := pattern[:star], pattern[star+1:]
	if arrow := bytes.Index(UntilZero(behind), []byte("->")); arrow >= 0 && arrow+2 < len(UntilZero(behind)) {
		behind, field = behind[:arrow], behind[arrow+2:]
	}
	key = make([]byte, 0, len(before)+len(element)+len(behind))
	return append(append(append(key, before...), element...), behind...), field
}
