package session

import (
	"bytes"
	"slices"

	"github.com/quolldb/quoll/internal/command"
	"github.com/quolldb/quoll/internal/resp"
	"github.com/quolldb/quoll/internal/scan"
	"github.com/quolldb/quoll/proxy/route"
)

// runCommand is COMMAND, with or without a subcommand.
func runCommand(s *Session, dst []byte, args [][]byte) []byte {
	if len(args) == 1 {
		return commandInfo(s, dst, args)
	}
	return commandCommand.run(s, dst, args)
}

// commandCommand is COMMAND's subcommands, https://redis.io/commands/command/. What
// they say comes from the one table in internal/command.
var commandCommand = container{"COMMAND", []subcommand{
	{"COUNT", 2, commandCount, []string{"COUNT", "Return the total number of commands."}},
	{"DOCS", -2, commandDocs, []string{"DOCS [<command-name> ...]", "Return documentation details about multiple commands, or all."}},
	{"GETKEYS", -4, commandGetKeys, []string{"GETKEYS <full-command>", "Return the keys from a full command."}},
	{"GETKEYSANDFLAGS", -4, never(route.Refuse("ERR COMMAND GETKEYSANDFLAGS is not supported yet by Quoll; see COMMAND GETKEYS")), nil},
	{"INFO", -2, func(s *Session, dst []byte, args [][]byte) []byte { return commandInfo(s, dst, args[1:]) },
		[]string{"INFO [<command-name> ...]", "Return details about multiple commands, or all."}},
	{"LIST", -2, commandList, []string{"LIST [FILTERBY (MODULE|ACLCAT|PATTERN) <value>]", "Return a list of all commands."}},
}}

func commandCount(s *Session, dst []byte, _ [][]byte) []byte {
	return resp.AppendInt(dst, int64(len(command.Supported())))
}

// commandInfo shows the commands named behind args[0], all if there are none.
func commandInfo(s *Session, dst []byte, args [][]byte) []byte {
	if len(args) == 1 {
		dst = resp.AppendArray(dst, len(command.Supported()))
		for _, cmd := range command.Supported() {
			dst = command.AppendInfo(dst, cmd, s.resp3)
		}
		return dst
	}
	dst = resp.AppendArray(dst, len(args)-1)
	for _, name := range args[1:] {
		dst = command.AppendInfo(dst, lookupFull(name), s.resp3)
	}
	return dst
}

func commandDocs(s *Session, dst []byte, args [][]byte) []byte {
	list := command.Supported()
	if len(args) > 2 {
		list = nil
		for _, name := range args[2:] {
			if cmd := lookupFull(name); cmd != nil && cmd.Route != command.RouteUnsupported {
				list = append(list, cmd)
			}
		}
	}
	dst = resp.AppendMap(dst, len(list), s.resp3)
	for _, cmd := range list {
		dst = command.AppendDocs(dst, cmd, s.resp3)
	}
	return dst
}

// lookupFull finds a command by its name, or a subcommand by container|name.
func lookupFull(name []byte) *command.Command {
	container, sub, found := bytes.Cut(name, []byte("|"))
	cmd := command.Lookup(container)
	if found && cmd != nil {
		return cmd.Subcommand(sub)
	}
	return cmd
}

func commandGetKeys(s *Session, dst []byte, args [][]byte) []byte {
	args = args[2:]
	cmd := command.Lookup(args[0]).Called(args)
	switch {
	case cmd == nil:
		return route.AppendReply(dst, route.Refuse("ERR Invalid command specified"))
	case cmd.Route == command.RouteUnsupported:
		return route.AppendReply(dst, unsupported(cmd.Name))
	case len(cmd.KeySpecs) == 0:
		return route.AppendReply(dst, route.Refuse("ERR The command has no key arguments"))
	case !cmd.Enough(len(args)): // MSET's pairs need not be complete
		return route.AppendReply(dst, route.Refuse("ERR Invalid number of arguments specified for command"))
	}
	keys, ok := cmd.AllKeys(args)
	if !ok {
		return route.AppendReply(dst, route.Refuse("ERR Invalid arguments specified for command"))
	}
	dst = resp.AppendArray(dst, len(keys))
	for _, key := range keys {
		dst = resp.AppendBulk(dst, key)
	}
	return dst
}

// commandList is COMMAND LIST [FILTERBY MODULE name | ACLCAT category | PATTERN
// pattern].
func commandList(s *Session, dst []byte, args [][]byte) []byte {
	keep := func(*command.Command) bool { return true }
	switch {
	case len(args) == 2:
	case len(args) != 5 || !is(args[2], "FILTERBY"):
		return route.AppendReply(dst, errSyntax)
	case is(args[3], "MODULE"):
		keep = func(*command.Command) bool { return false }
	case is(args[3], "ACLCAT"):
		category := "@" + string(bytes.ToLower(args[4]))
		keep = func(c *command.Command) bool { return slices.Contains(c.ACL().Strings(), category) }
	case is(args[3], "PATTERN"):
		pattern := bytes.ToLower(args[4])
		keep = func(c *command.Command) bool { return scan.Match(pattern, []byte(c.Name)) }
	default:
		return route.AppendReply(dst, errSyntax)
	}
	var names []string
	for _, cmd := range command.Supported() {
		for _, c := range append([]*command.Command{cmd}, cmd.Subcommands...) {
			if keep(c) {
				names = append(names, c.Name)
			}
		}
	}
	dst = resp.AppendArray(dst, len(names))
	for _, name := range names {
		dst = resp.AppendBulk(dst, name)
	}
	return dst
}
