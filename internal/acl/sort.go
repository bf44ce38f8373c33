package acl

import (
	"bytes"
	"strings"

	"github.com/quolldb/quoll/internal/command"
)

// SortDenied says, as a reply, that a user may not use BY or GET with SORT or SORT_RO, which it may execute; nothing if the command has none of these, or the user may read every key: which keys they look up follows from values.
func SortDenied(u *User, c *command.Command, args [][]byte) (problem string) {
	if c.Op != command.OpSort && c.Op != command.OpSortRO || u.unrestricted || u.ReadsAllKeys(c, args) {
		return ""
	}
	for i := 2; i < len(args); i++ {
		left := len(args) - i - 1
		switch word := strings.ToLower(string(args[i])); {
		case word == "asc", word == "desc", word == "alpha":
		case word == "limit" && left >= 2:
			i += 2
		case word == "store" && left >= 1:
			i++
		case word == "by" && left >= 1:
			if i++; bytes.ContainsRune(args[i], '*') {
				return "ERR BY option of SORT denied due to insufficient ACL permissions."
			}
		case word == "get" && left >= 1:
			return "ERR GET option of SORT denied due to insufficient ACL permissions."
		default: // of which whoever executes it says what is wrong
			return ""
		}
	}
	return ""
}
