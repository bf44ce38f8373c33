package session

import (
	"bytes"

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
	{"GETKEYSANDFLAGS", -4, commandGetKeysAndFlags, []string{
		"GETKEYSANDFLAGS <full-command>", "Return the keys and the access flags from a full command.",
	}},
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

func commandGetKeys(_ *Session, dst []byte, args [][]byte) []byte {
	cmd, err := keysCommand(args[2:])
	if err != nil {
		return route.AppendReply(dst, err)
	}
	args = args[2:]
	keys, ok := cmd.AllKeys(args)
	if !ok && cmd.KeySpecs[0].Limit > 0 { // one ID may be missing
		keys, ok = cmd.AllKeys(args[:len(args)-1])
	}
	if !ok {
		return route.AppendReply(dst, errNoKeys)
	}
	dst = resp.AppendArray(dst, len(keys))
	for _, key := range keys {
		dst = resp.AppendBulk(dst, key)
	}
	return dst
}

// commandGetKeysAndFlags is COMMAND GETKEYSANDFLAGS command [argument ...].
func commandGetKeysAndFlags(s *Session, dst []byte, args [][]byte) []byte {
	cmd, err := keysCommand(args[2:])
	if err != nil {
		return route.AppendReply(dst, err)
	}
	keys, flags, ok := cmd.KeysAndFlags(args[2:])
	if !ok {
		return route.AppendReply(dst, errNoKeys)
	}
	dst = resp.AppendArray(dst, len(keys))
	for i, key := range keys {
		dst = resp.AppendBulk(resp.AppendArray(dst, 2), key)
		names := flags[i].Strings()
		dst = resp.AppendSet(dst, len(names), s.resp3)
		for _, name := range names {
			dst = resp.AppendSimple(dst, name)
		}
	}
	return dst
}

var errNoKeys = route.Refuse("ERR Invalid arguments specified for command")

// keysCommand returns the command whose keys are asked for.
func keysCommand(args [][]byte) (*command.Command, error) {
	cmd := command.Lookup(args[0]).Called(args)
	switch {
	case cmd == nil:
		return nil, route.Refuse("ERR Invalid command specified")
	case cmd.Route == command.RouteUnsupported:
		return nil, unsupported(cmd.Name)
	case !cmd.OnKeys():
		return nil, route.Refuse("ERR The command has no key arguments")
	case !cmd.Enough(len(args)): // MSET's pairs need not be complete
		return nil, route.Refuse("ERR Invalid number of arguments specified for command")
	}
	return cmd, nil
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
		keep = inCategory(string(bytes.ToLower(args[4])))
	case is(args[3], "PATTERN"):
		pattern := bytes.ToLower(args[4])
		keep = func(c *command.Command) bool { return scan.Match(pattern, []byte(c.Name)) }
	default:
		return route.AppendReply(dst, errSyntax)
	}
	return appendBulks(dst, commandsOf(keep))
}
