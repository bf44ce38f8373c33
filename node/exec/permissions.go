package exec

import (
	"errors"
	"strings"

	"github.com/quolldb/quoll/internal/acl"
	"github.com/quolldb/quoll/internal/command"
)

// A proxy checks what its users may do, but for what their scripts call: that is known here. So it sends the rules of the user with the scripts.

// errUser is the error of a user whose rules this node does not understand.
var errUser = errors.New("ERR the node does not know what the user of this script may do; proxy and node may be of different versions; nothing was done")

// user returns a user of these rules, nil if there are none: it may do everything. It reports false for what are none.
func (e *Executor) user(rules []byte) (u *acl.User, ok bool) {
	if rules == nil {
		return nil, true
	}
	if u = e.users.find(rules); u == nil {
		var err error
		if u, err = acl.New("").With(strings.Split(string(rules), " ")); err != nil {
			return nil, false
		}
		e.users.keep(rules, u)
	}
	return u, true
}

// denied says, as a reply, why a script's user may not execute a command, nothing if it may. c is nil if there is no such subcommand, of which others say so.
func (r *scriptRun) denied(c *command.Command, args [][]byte) (problem string) {
	if c == nil {
		return ""
	}
	denial, at := r.user.Check(c, args)
	switch denial {
	case acl.Allowed:
		return acl.SortDenied(r.user, c, args)
	case acl.DeniedCommand:
		r.denials.Add(uint8(denial), []byte(c.Name))
		return "ERR The user executing the script can't run this command or subcommand"
	case acl.DeniedKey:
		r.denials.Add(uint8(denial), args[at])
		return "ERR The user executing the script can't access at least one of the keys mentioned in the command arguments"
	}
	r.denials.Add(uint8(denial), args[at])
	return "ERR The user executing the script can't publish to the channel mentioned in the command"
}

// allowed is redis.acl_check_cmd.
func (r *scriptRun) allowed(args [][]byte) (known, allowed bool) {
	c := command.Lookup(args[0]).CalledInRules(args)
	if c == nil {
		return false, false
	}
	denial, _ := r.user.Check(c, args)
	return true, denial == acl.Allowed
}
