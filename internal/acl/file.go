package acl

import (
	"errors"
	"fmt"
	"strings"
)

// ErrFile is wrapped by what is wrong with the lines of an ACL file, which says it in the words of Redis.
var ErrFile = errors.New("WARNING: ACL errors detected, no change to the previously active ACL rules was performed")

// ParseFile reads the text of an ACL file, of which the name is for errors: a line for each user, "user NAME RULES". Without the default user there is one that may do everything. An error names the lines
// that are wrong; nothing of the file counts then. fallback is the default user if the file has none.
func ParseFile(name, text string, fallback *User) (*Users, error) {
	f := file{name: name, seen: map[string]bool{}}
	for i, line := range strings.Split(cString(text), "\n") {
		if line = strings.Trim(line, " \t\r\n"); line != "" {
			f.line(i+1, strings.Split(line, " "))
		}
	}
	if len(f.wrong) > 0 {
		return nil, fmt.Errorf("%s%w", strings.Join(f.wrong, ""), ErrFile)
	}
	if !f.seen[DefaultName] {
		f.users = append(f.users, fallback)
	}
	return NewUsers(f.users...), nil
}

// file is an ACL file that is being read.
type file struct {
	name  string
	users []*User
	seen  map[string]bool
	wrong []string
}

func (f *file) fail(format string, args ...any) {
	f.wrong = append(f.wrong, fmt.Sprintf(format, args...))
}

// line reads a line that is not empty.
func (f *file) line(number int, words []string) {
	switch {
	case words[0] != "user" || len(words) < 2:
		f.fail("%s:%d should start with user keyword followed by the username. ", f.name, number)
		return
	case !ValidName(words[1]):
		f.fail("'%s:%d: username '%s' contains invalid characters. ", f.name, number, words[1])
		return
	case f.seen[words[1]]:
		f.fail("WARNING: Duplicate user '%s' found on line %d. ", words[1], number)
		return
	}
	u := New(words[1])
	f.seen[u.Name] = true
	merged, unmatched := mergeSelectors(words[2:])
	if unmatched >= 0 {
		f.fail("%s:%d: Unmatched parenthesis in selector definition.", f.name, number)
	}
	failed := false
	for _, rule := range merged {
		rule = strings.Trim(rule, "\t\r\n")
		switch err := u.apply(rule); {
		case err == nil:
		case errors.Is(err, ErrUnknownCommand): // of which nothing is secret
			f.fail("%s:%d: Error in applying operation '%s': %s. ", f.name, number, rule, err)
		case !failed: // what follows may be wrong because of it
			f.fail("%s:%d: %s. ", f.name, number, err)
			failed = true
		}
	}
	u.finish()
	f.users = append(f.users, u)
}

// FormatFile returns the text of an ACL file with these users.
func FormatFile(all *Users) string {
	var text strings.Builder
	for _, u := range all.List() {
		text.WriteString("user " + u.Name + " " + u.Stored() + "\n")
	}
	return text.String()
}
