// Package suggest finds what somebody who misspelt a name has meant.
package suggest

import "strings"

// Nearest returns the name that is most like the one that was given, or "" if none is like it. Of names that are
// equally like it the first one is returned.
//
// A name is like another if at most two letters are wrong, missing, too many or swapped with the next one, a third of
// the longer one at most; or if it begins with what was given, which has three letters or more.
func Nearest(given string, names []string) string {
	best, least := "", 0
	for _, name := range names {
		d := distance(given, name)
		if d > 2 || 3*d > max(len(given), len(name)) {
			continue
		}
		if best == "" || d < least {
			best, least = name, d
		}
	}
	if best != "" || len(given) < 3 {
		return best
	}
	for _, name := range names {
		if strings.HasPrefix(name, given) {
			return name
		}
	}
	return ""
}

// DidYouMean returns "; did you mean NAME?", or nothing if no name is like the one that was given. Before is put in
// front of the name.
func DidYouMean(given, before string, names []string) string {
	if name := Nearest(given, names); name != "" {
		return "; did you mean " + before + name + "?"
	}
	return ""
}

// distance counts the letters to change, add, remove or swap with their neighbour that make b of a.
func distance(a, b string) int {
	if abs(len(a)-len(b)) > 2 || len(a) > 64 { // too far, or nobody's spelling
		return 3
	}
	// The rows for the first i-1, i and i+1 letters of a.
	before, last, next := make([]int, len(b)+1), make([]int, len(b)+1), make([]int, len(b)+1)
	for j := range last {
		last[j] = j
	}
	for i := range len(a) {
		next[0] = i + 1
		for j := range len(b) {
			change := last[j]
			if a[i] != b[j] {
				change++
			}
			next[j+1] = min(change, last[j+1]+1, next[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				next[j+1] = min(next[j+1], before[j-1]+1)
			}
		}
		before, last, next = last, next, before
	}
	return last[len(b)]
}

func abs(n int) int { return max(n, -n) }
