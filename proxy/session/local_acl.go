package session

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"fmt"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/proxy/route"
)

var (
	errOneUser  = route.Refuse("ERR there is one user, 'default', whose password the proxies are started with: --password. Quoll does not change users; nothing was done")
	errNoACLLog = route.Refuse("ERR ACL LOG is not supported by Quoll; the proxy's metrics count wrong passwords")
	errGenPass  = route.Refuse("ERR ACL GENPASS argument must be the number of bits for the output password, a positive number up to 4096")
)

// aclCommand is ACL, https://redis.io/commands/acl/, of the one user that there is.
var aclCommand = container{"ACL", []subcommand{
	{"CAT", -2, aclCat, []string{
		"CAT [<category>]", "List all commands that belong to <category>, or all command categories", "when no category is specified.",
	}},
	{"DELUSER", -3, never(errOneUser), nil},
	{"DRYRUN", -4, aclDryRun, []string{
		"DRYRUN <username> <command> [<arg> ...]", "Returns whether the user can execute the given command without executing the command.",
	}},
	{"GETUSER", 3, aclGetUser, []string{"GETUSER <username>", "Get the user's details."}},
	{"GENPASS", -2, aclGenPass, []string{
		"GENPASS [<bits>]", "Generate a secure 256-bit user password. The optional `bits` argument can", "be used to specify a different size.",
	}},
	{"LIST", 2, aclList, []string{"LIST", "Show users details in config file format."}},
	{"LOAD", 2, never(errOneUser), nil},
	{"LOG", -2, never(errNoACLLog), nil},
	{"SAVE", 2, never(errOneUser), nil},
	{"SETUSER", -3, never(errOneUser), nil},
	{"USERS", 2, always("*1\r\n$7\r\ndefault\r\n"), []string{"USERS", "List all the registered usernames."}},
	{"WHOAMI", 2, always("$7\r\ndefault\r\n"), []string{"WHOAMI", "Return the current connection username."}},
}}

// aclCategories are Redis' categories, in its order.
var aclCategories = []string{
	"keyspace", "read", "write", "set", "sortedset", "list", "hash", "string", "bitmap", "hyperloglog", "geo", "stream", "pubsub", "admin", "fast", "slow", "blocking",
	"dangerous", "connection", "transaction", "scripting",
}

// aclCat is ACL CAT [category].
func aclCat(_ *Session, dst []byte, args [][]byte) []byte {
	switch len(args) {
	case 2:
		return appendBulks(dst, aclCategories)
	case 3:
	default:
		return route.AppendReply(dst, misused("ACL", args))
	}
	for _, category := range aclCategories {
		if is(args[2], category) {
			return appendBulks(dst, commandsOf(inCategory(category)))
		}
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

// aclDryRun is ACL DRYRUN user command [argument ...]: the user may do everything.
func aclDryRun(_ *Session, dst []byte, args [][]byte) []byte {
	if string(args[2]) != defaultUser {
		return route.AppendReply(dst, route.Refuse(fmt.Sprintf("ERR User '%s' not found", shown(args[2]))))
	}
	cmd := command.Lookup(args[3]).Called(args[3:])
	switch {
	case cmd == nil:
		return route.AppendReply(dst, route.Refuse(fmt.Sprintf("ERR Command '%s' not found", shown(args[3]))))
	case !cmd.Enough(len(args) - 3):
		return route.AppendReply(dst, wrongArity(cmd.Name))
	}
	return append(dst, resp.OK...)
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

// passwordRule returns the flag, or the hash of the password, of the user.
func (s *Session) passwordRule() (hash string, none bool) {
	if s.service.cfg.Password == "" {
		return "", true
	}
	sum := sha256.Sum256([]byte(s.service.cfg.Password))
	return hex.EncodeToString(sum[:]), false
}

// aclGetUser is ACL GETUSER user.
func aclGetUser(s *Session, dst []byte, args [][]byte) []byte {
	if string(args[2]) != defaultUser {
		return resp.AppendNull(dst, s.resp3)
	}
	flags, passwords := []string{"on"}, []string{}
	if hash, none := s.passwordRule(); none {
		flags = append(flags, "nopass")
	} else {
		passwords = append(passwords, hash)
	}
	dst = resp.AppendMap(dst, 6, s.resp3)
	dst = resp.AppendSet(resp.AppendBulk(dst, "flags"), len(flags), s.resp3)
	for _, flag := range flags {
		dst = resp.AppendBulk(dst, flag)
	}
	dst = appendBulks(resp.AppendBulk(dst, "passwords"), passwords)
	for _, rule := range [][2]string{{"commands", "+@all"}, {"keys", "~*"}, {"channels", "&*"}} {
		dst = resp.AppendBulk(resp.AppendBulk(dst, rule[0]), rule[1])
	}
	return resp.AppendArray(resp.AppendBulk(dst, "selectors"), 0)
}

// aclList is ACL LIST.
func aclList(s *Session, dst []byte, _ [][]byte) []byte {
	hash, none := s.passwordRule()
	password := "#" + hash
	if none {
		password = "nopass"
	}
	return appendBulks(dst, []string{"user " + defaultUser + " on " + password + " ~* &* +@all"})
}

// inCategory returns what reports whether a command is of an ACL category.
func inCategory(category string) func(*command.Command) bool {
	return func(c *command.Command) bool {
		for _, name := range c.ACL().Strings() {
			if name[1:] == category {
				return true
			}
		}
		return false
	}
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
