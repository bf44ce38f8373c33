package command

import (
	"slices"
	"strings"
)

// The table in the forms in which it is asked for.
var (
	all       = join()
	supported = slices.DeleteFunc(slices.Clone(all), func(c *Command) bool { return c.Route == RouteUnsupported })
	byName    = indexNames(all)
	byOp      = indexOps(all, internalCommands)
)

// internalCommands travel between proxies and nodes only. A client cannot call
// them: Lookup does not know them.
var internalCommands = []*Command{
	{Name: "dumpstate", Op: OpDumpState, Route: RouteRead, Arity: 2, Flags: FlagReadOnly,
		KeySpecs: oneKey(KeyRO | KeyAccess), Summary: "Return the whole state of a key"},
	{Name: "restorestate", Op: OpRestoreState, Route: RouteWrite, Arity: -3, Flags: FlagWrite,
		KeySpecs: oneKey(KeyOW | KeyUpdate), Summary: "Store the whole state of a key"},
	{Name: "sizestate", Op: OpSizeState, Route: RouteRead, Arity: 2, Flags: FlagReadOnly,
		KeySpecs: oneKey(KeyRO), Summary: "Return how many bytes the value of a key is"},
	{Name: "clear", Op: OpClear, Route: RouteCluster, Arity: 1, Flags: FlagWrite,
		Summary: "Delete every key of a slot"},
}

// join builds the sorted list of all commands out of the tables of the groups.
func join() []*Command {
	var list []*Command
	for group, commands := range map[string][]*Command{
		"bitmap":     bitmapCommands,
		"cluster":    clusterCommands,
		"connection": connectionCommands,
		"generic":    genericCommands,
		"hash":       hashCommands,
		"server":     serverCommands,
		"string":     stringCommands,
	} {
		for _, c := range commands {
			c.Group = group
			for _, sub := range c.Subcommands {
				sub.Group, sub.Route = group, c.Route
			}
		}
		list = append(list, commands...)
	}
	list = append(list, parseUnsupported()...)
	slices.SortFunc(list, func(a, b *Command) int { return strings.Compare(a.Name, b.Name) })
	return list
}

// indexNames builds the open-addressing hash table that Lookup probes.
func indexNames(commands []*Command) *[tableSize]*Command {
	var table [tableSize]*Command
	for _, c := range commands {
		i := hash(c.Name)
		for table[i%tableSize] != nil {
			i++
		}
		table[i%tableSize] = c
	}
	return &table
}

// indexOps builds the array that ByOp indexes.
func indexOps(lists ...[]*Command) []*Command {
	var table []*Command
	for _, c := range slices.Concat(lists...) {
		if c.Op == OpNone {
			continue
		}
		for int(c.Op) >= len(table) {
			table = append(table, nil)
		}
		table[c.Op] = c
	}
	return table
}

// oneKey is the specification of a command whose only key is its first argument.
func oneKey(flags KeyFlags) []KeySpec {
	return []KeySpec{{First: 1, Last: 1, Step: 1, Flags: flags}}
}

// oneKeyNoted is oneKey with the remark that Redis makes on the flags.
func oneKeyNoted(flags KeyFlags, notes string) []KeySpec {
	return []KeySpec{{First: 1, Last: 1, Step: 1, Flags: flags, Notes: notes}}
}

// allKeys is the specification of a command whose arguments are all keys.
func allKeys(flags KeyFlags) []KeySpec {
	return []KeySpec{{First: 1, Last: -1, Step: 1, Flags: flags}}
}
