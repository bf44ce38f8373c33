package command

import (
	"strconv"
	"strings"
)

// Reasons for which several commands are refused.
const (
	replication = "each key is on several nodes anyway, and `quoll ring` changes on which"
	persistence = "nodes write to disk what they are told by themselves, and `quoll node backup` makes backups"
	internals   = "it looks into a redis-server, or belongs to its own tests"
	dangerous   = "a proxy is ended by its machine, not by its clients"
)

// unsupportedCommands are the other commands of Redis 7.0, by group and why they are refused, each with its
// arity, and its subcommands: enough to refuse them as Redis would and to say "not supported yet".
var unsupportedCommands = []struct{ group, why, commands string }{
	{"generic", "`quoll import` and `quoll export` copy keys", "migrate:-6"},
	{"hyperloglog", internals, "pfdebug:3 pfselftest:1"},
	{"server", persistence, "bgrewriteaof:1 bgsave:-1 lastsave:1 save:1"},
	{"server", replication, "failover:-1 psync:-3 replconf:-1 replicaof:3 slaveof:3 sync:1"},
	{"server", "Quoll has no modules", "module:-2:help,list,load,loadex,unload"},
	{"server", "the database is a part of the name of each key, and all would have to be renamed", "swapdb:3"},
	{"server", internals, "restore-asking:-4"},
	{"server", dangerous, "shutdown:-1"},
}

// parseUnsupported turns unsupportedCommands into descriptions.
func parseUnsupported() []*Command {
	var list []*Command
	for _, row := range unsupportedCommands {
		for _, field := range strings.Fields(row.commands) {
			name, rest, _ := strings.Cut(field, ":")
			number, subcommands, _ := strings.Cut(rest, ":")
			arity, err := strconv.Atoi(number)
			if err != nil {
				panic("command: bad arity in the table of unsupported commands: " + field)
			}
			c := &Command{Name: name, Route: RouteUnsupported, Arity: arity, Group: row.group, Refused: row.why}
			if subcommands != "" {
				c.Without = []Without{{row.why, strings.ReplaceAll(subcommands, ",", " ")}}
			}
			list = append(list, c)
		}
	}
	return list
}
