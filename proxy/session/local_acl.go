package session

import (
	"crypto/rand"
	"encoding/hex"
	"fmt"
	"time"

	"github.com/quolldb/quoll/internal/acl"
	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
)

var errGenPass = route.Refuse("ERR ACL GENPASS argument must be the number of bits for the output password, a positive number up to 4096")

// aclCommand is ACL, https://redis.io/commands/acl/. What changes users is in local_acl_change.go.
var aclCommand = container{"ACL", []subcommand{
	{"CAT", -2, aclCat, []string{
		"CAT [<category>]", "List all commands that belong to <category>, or all command categories", "when no category is specified.",
	}},
	{"DELUSER", -3, aclDelUser, []string{"DELUSER <username> [<username> ...]", "Delete a list of users."}},
	{"DRYRUN", -4, aclDryRun, []string{
		"DRYRUN <username> <command> [<arg> ...]", "Returns whether the user can execute the given command without executing the command.",
	}},
	{"GETUSER", 3, aclGetUser, []string{"GETUSER <username>", "Get the user's details."}},
	{"GENPASS", -2, aclGenPass, []string{
		"GENPASS [<bits>]", "Generate a secure 256-bit user password. The optional `bits` argument can", "be used to specify a different size.",
	}},
	{"LIST", 2, aclList, []string{"LIST", "Show users details in config file format."}},
	{"LOAD", 2, aclLoad, []string{"LOAD", "Reload users from the ACL file."}},
	{"LOG", -2, aclLog, []string{"LOG [<count> | RESET]", "Show the ACL log entries."}},
	{"SAVE", 2, aclSave, []string{"SAVE", "Save the current config to the ACL file."}},
	{"SETUSER", -3, aclSetUser, []string{"SETUSER <username> <attribute> [<attribute> ...]", "Create or modify a user with the specified attributes."}},
	{"USERS", 2, aclUsers, []string{"USERS", "List all the registered usernames."}},
	{"WHOAMI", 2, aclWhoAmI, []string{"WHOAMI", "Return the current connection username."}},
}}

// aclCat is ACL CAT [category].
func aclCat(_ *Session, dst []byte, args [][]byte) []byte {
	switch len(args) {
	case 2:
		return appendBulks(dst, command.CategoryNames())
	case 3:
	default:
		return route.AppendReply(dst, misused("ACL", args))
	}
	if command.Category(string(args[2])) != 0 {
		return appendBulks(dst, commandsOf(inCategory(string(args[2]))))
	}
	return route.AppendReply(dst, route.Refuse(fmt.Sprintf("ERR Unknown category '%s'", beginning(args[2], 128))))
}

func appendBulks(dst []byte, list []string) []byte {
	dst = resp.AppendArray(dst, len(list))
	for _, text := range list {
		dst = resp.AppendBulk(dst, text)
	}
	return dst
}

// aclDryRun is ACL DRYRUN user command [argument ...].
func aclDryRun(s *Session, dst []byte, args [][]byte) []byte {
	user := s.users().Get(args[2])
	if user == nil {
		return route.AppendReply(dst, route.Refuse(fmt.Sprintf("ERR User '%s' not found", shown(args[2]))))
	}
	tried := args[3:]
	called := command.Lookup(tried[0]).CalledInRules(tried)
	switch {
	case called == nil:
		return route.AppendReply(dst, route.Refuse(fmt.Sprintf("ERR Command '%s' not found", shown(tried[0]))))
	case called.Arity != 0 && !called.Enough(len(tried)):
		return route.AppendReply(dst, wrongArity(called.Name))
	}
	switch denial, at := user.Check(called, tried); denial {
	case acl.Allowed:
		return append(dst, resp.OK...)
	case acl.DeniedCommand:
		return resp.AppendBulk(dst, "This user has no permissions to run the '"+called.Name+"' command")
	case acl.DeniedKey:
		return resp.AppendBulk(dst, fmt.Sprintf("This user has no permissions to access the '%s' key", shown(tried[at])))
	default:
		return resp.AppendBulk(dst, fmt.Sprintf("This user has no permissions to access the '%s' channel", shown(tried[at])))
	}
}

// aclGenPass is ACL GENPASS [bits].
func aclGenPass(_ *Session, dst []byte, args [][]byte) []byte {
	bits := int64(256)
	switch {
	case len(args) > 3:
		return route.AppendReply(dst, misused("ACL", args))
	case len(args) == 3:
		n, ok := resp.ParseInt(args[2])
		if !ok {
			return route.AppendReply(dst, errNotInteger)
		}
		if bits = n; n <= 0 || n > 4096 {
			return route.AppendReply(dst, errGenPass)
		}
	}
	digits := (bits + 3) / 4
	secret := make([]byte, (digits+1)/2)
	rand.Read(secret) // never fails
	return resp.AppendBulk(dst, hex.EncodeToString(secret)[:digits])
}

// users are those that there are now.
func (s *Session) users() *acl.Users { return s.service.users.now.Load().Users }

// aclGetUser is ACL GETUSER user.
func aclGetUser(s *Session, dst []byte, args [][]byte) []byte {
	user := s.users().Get(args[2])
	if user == nil {
		return resp.AppendNull(dst, s.resp3)
	}
	flags, selectors := user.Flags(), user.Selectors()
	dst = resp.AppendMap(dst, 6, s.resp3)
	dst = resp.AppendSet(resp.AppendBulk(dst, "flags"), len(flags), s.resp3)
	for _, flag := range flags {
		dst = resp.AppendBulk(dst, flag)
	}
	dst = appendBulks(resp.AppendBulk(dst, "passwords"), user.Passwords())
	dst = appendSelector(dst, selectors[0])
	dst = resp.AppendArray(resp.AppendBulk(dst, "selectors"), len(selectors)-1)
	for _, one := range selectors[1:] {
		dst = appendSelector(resp.AppendMap(dst, 3, s.resp3), one)
	}
	return dst
}

func appendSelector(dst []byte, one acl.Description) []byte {
	for _, field := range [][2]string{{"commands", one.Commands}, {"keys", one.Keys}, {"channels", one.Channels}} {
		dst = resp.AppendBulk(resp.AppendBulk(dst, field[0]), field[1])
	}
	return dst
}

// aclList is ACL LIST.
func aclList(s *Session, dst []byte, _ [][]byte) []byte {
	var lines []string
	for _, user := range s.users().List() {
		lines = append(lines, user.Line())
	}
	return appendBulks(dst, lines)
}

// aclUsers is ACL USERS.
func aclUsers(s *Session, dst []byte, _ [][]byte) []byte {
	var names []string
	for _, user := range s.users().List() {
		names = append(names, user.Name)
	}
	return appendBulks(dst, names)
}

// aclWhoAmI is ACL WHOAMI.
func aclWhoAmI(s *Session, dst []byte, _ [][]byte) []byte {
	return resp.AppendBulk(dst, s.who.user.Name)
}

// aclLog is ACL LOG [count|RESET].
func aclLog(s *Session, dst []byte, args [][]byte) []byte {
	count := int64(10)
	u := &s.service.users
	u.logged.Lock()
	defer u.logged.Unlock()
	switch {
	case len(args) > 3:
		return route.AppendReply(dst, misused("ACL", args))
	case len(args) == 3 && is(args[2], "RESET"):
		u.log.Reset()
		return append(dst, resp.OK...)
	case len(args) == 3:
		n, ok := resp.ParseInt(args[2])
		if !ok {
			return route.AppendReply(dst, errNotInteger)
		}
		count = n
	}
	entries, now := u.log.Latest(int(min(max(count, 0), maxACLLog))), time.Now().UnixMilli()
	dst = resp.AppendArray(dst, len(entries))
	for i := range entries {
		e := &entries[i]
		dst = resp.AppendMap(dst, 7, s.resp3)
		dst = resp.AppendInt(resp.AppendBulk(dst, "count"), e.Count)
		for _, field := range [][2]string{{"reason", e.Reason.String()}, {"context", e.Context}, {"object", e.Object}, {"username", e.User}} {
			dst = resp.AppendBulk(resp.AppendBulk(dst, field[0]), field[1])
		}
		dst = resp.AppendDouble(resp.AppendBulk(dst, "age-seconds"), float64(now-e.At)/1000, s.resp3)
		dst = resp.AppendBulk(resp.AppendBulk(dst, "client-info"), e.Client)
	}
	return dst
}

// inCategory returns what reports whether a command is of an ACL category.
func inCategory(name string) func(*command.Command) bool {
	category := command.Category(name)
	return func(c *command.Command) bool { return c.ACL()&category != 0 }
}

// commandsOf returns the names of the commands, and subcommands, that are kept.
func commandsOf(keep func(*command.Command) bool) (names []string) {
	for _, cmd := range command.Supported() {
		for _, c := range append([]*command.Command{cmd}, cmd.Subcommands...) {
			if keep(c) {
				names = append(names, c.Name)
			}
		}
	}
	return names
}
