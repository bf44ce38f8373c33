package session

import "github.com/quolldb/quoll/internal/command"

// maxSubcommands is above the number of subcommands; a test holds it against the table.
const maxSubcommands = 256

// countedSubcommands are the places of subcommands among what is counted, which is by number of operation: subcommands have none.
var countedSubcommands = placeSubcommands()

func placeSubcommands() map[*command.Command]command.Op {
	places := make(map[*command.Command]command.Op)
	for _, cmd := range command.Supported() {
		for _, sub := range cmd.Subcommands {
			places[sub] = maxOps + command.Op(len(places))
		}
	}
	return places
}

// countedAs returns under which number a command, or a subcommand, is counted.
func countedAs(cmd *command.Command) command.Op {
	if cmd == nil {
		return command.OpNone
	}
	if cmd.Op == command.OpNone {
		return countedSubcommands[cmd]
	}
	return cmd.Op
}

// countedCommand is a command that has been called, and what is counted of it.
type countedCommand struct {
	cmd   *command.Command
	stats *CommandStats
}

// Total returns how often a command was called, and how often of these it failed, with its subcommands and with what was not executed; of nil, of commands that there are not.
func (s *Stats) Total(cmd *command.Command) (calls, failed uint64) {
	all := []*command.Command{cmd}
	if cmd != nil {
		all = append(all, cmd.Subcommands...)
	}
	for _, c := range all {
		n := s.Op(countedAs(c))
		calls, failed = calls+n.Calls()+n.Rejected.Load(), failed+n.Failed.Load()+n.Rejected.Load()
	}
	return calls, failed
}

// countedOf returns what is counted of a command and its subcommands, those that were called or rejected.
func (s *Stats) countedOf(cmd *command.Command) (list []countedCommand) {
	for _, c := range append([]*command.Command{cmd}, cmd.Subcommands...) {
		if n := s.Op(countedAs(c)); n.Calls() > 0 || n.Rejected.Load() > 0 {
			list = append(list, countedCommand{c, n})
		}
	}
	return list
}
