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
	{Name: "objectstate", Op: OpObjectState, Route: RouteRead, Arity: 3, Flags: FlagReadOnly,
		KeySpecs: oneKey(KeyRO), Summary: "Return what a subcommand of OBJECT says of a key"},
	{Name: "pfread", Op: OpPFRead, Route: RouteRead, Arity: 2, Flags: FlagReadOnly,
		KeySpecs: oneKey(KeyRO | KeyAccess), Summary: "Return the whole value of a HyperLogLog"},
	{Name: "members", Op: OpMembers, Route: RouteRead, Arity: 4, Flags: FlagReadOnly,
		KeySpecs: oneKey(KeyRO | KeyAccess), Summary: "Return all members of a set, or a sorted set"},
	{Name: "batch", Op: OpBatch, Route: RouteSlot, Arity: -3, Flags: FlagWrite, Summary: "Execute commands on keys of one slot at once"},
	{Name: "watched", Op: OpWatched, Route: RouteSlot, Arity: 2, Flags: FlagReadOnly | FlagFast,
		KeySpecs: oneKey(KeyRO), Summary: "Return what tells later whether a key has changed"},
	{Name: "movekey", Op: OpMoveKey, Route: RouteSlot, Arity: 3, Flags: FlagWrite,
		KeySpecs: []KeySpec{{First: 1, Last: 1, Step: 1, Flags: KeyRW | KeyAccess | KeyDelete}, {First: 2, Last: 2, Step: 1, Flags: KeyOW | KeyInsert}},
		Summary:  "Move a key to another database"},
	{Name: "call", Op: OpCall, Route: RouteSlot, Arity: -4, Flags: flagsScript,
		KeySpecs: scriptKeys(KeyRW|KeyAccess|KeyUpdate, ""), Summary: "Call a function of a library"},
	{Name: "call_ro", Op: OpCallRO, Route: RouteSlot, Arity: -4, Flags: FlagReadOnly | flagsScript,
		KeySpecs: scriptKeys(KeyRO|KeyAccess, ""), Summary: "Call a read-only function of a library"},
	{Name: "xreadkey", Op: OpXReadKey, Route: RouteRead, Arity: -3, Flags: FlagReadOnly,
		KeySpecs: oneKey(KeyRO | KeyAccess), Summary: "Read entries of one stream"},
	{Name: "xreadgroupkey", Op: OpXReadGroupKey, Route: RouteWrite, Arity: -3, Flags: FlagWrite,
		KeySpecs: oneKey(KeyRW | KeyAccess), Summary: "Read entries of one stream for a group"},
	{Name: "xgroupkey", Op: OpXGroupKey, Route: RouteWrite, Arity: -4, Flags: FlagWrite | FlagDenyOOM,
		KeySpecs: oneKey(KeyRW | KeyUpdate), Summary: "Change the groups of a stream"},
	{Name: "xinfokey", Op: OpXInfoKey, Route: RouteRead, Arity: -3, Flags: FlagReadOnly,
		KeySpecs: oneKey(KeyRO | KeyAccess), Summary: "Return what a stream consists of"},
	{Name: "flushkey", Op: OpFlushKey, Route: RouteWrite, Arity: 2, Flags: FlagWrite,
		KeySpecs: oneKey(KeyRM | KeyDelete), Summary: "Delete a key of a database that is flushed"},
	{Name: "clear", Op: OpClear, Route: RouteCluster, Arity: 1, Flags: FlagWrite,
		Summary: "Delete every key of a slot"},
}

// group is a section of the Redis documentation, and of COMMAND DOCS.
type group struct {
	name  string
	title string
	// note says what differs from Redis for all that the commands work on, in Markdown. It may be empty.
	note string
	// commands are those that are supported.
	commands []*Command
}

// groups are in the order in which COMPATIBILITY.md has them.
var groups = []group{
	{"string", "Strings", "", stringCommands},
	{"bitmap", "Bits", "", bitmapCommands},
	{"hash", "Hashes", "A hash may be as long as a value (`proto-max-bulk-len`), or as the nodes' `--max-collection`. Up to 128 fields and 16 KiB fields stay in the " +
		"order in which they came; beyond that they are in an order of their own, the same on all nodes.", hashCommands},
	{"list", "Lists", "Lists are bounded as hashes are.", listCommands},
	{"set", "Sets", "Sets are bounded as hashes are. Up to 512 integers are in ascending order, as in Redis; up to 128 members and 16 KiB in the order in which they " +
		"came; beyond that in an order of their own, the same on all nodes.", setCommands},
	{"sorted-set", "Sorted sets", "Sorted sets are bounded as hashes are.", sortedSetCommands},
	{"geo", "Positions", "", geoCommands},
	{"hyperloglog", "HyperLogLog", "", hyperloglogCommands},
	{"stream", "Streams", "Streams are bounded as hashes are.", streamCommands},
	{"generic", "Keys", "", genericCommands},
	{"transactions", "Transactions", "", transactionCommands},
	{"scripting", "Scripts and functions", "", scriptingCommands},
	{"pubsub", "Messages", pubSubNote, pubSubCommands},
	{"connection", "Connections", "", connectionCommands},
	{"server", "Server", "", slices.Concat(serverCommands, lookCommands)},
	{"cluster", "Cluster", "", clusterCommands},
}

// join builds the sorted list of all commands out of the tables of the groups.
func join() []*Command {
	var list []*Command
	for _, g := range groups {
		for _, c := range g.commands {
			c.Group = g.name
			for _, sub := range c.Subcommands {
				sub.Group, sub.Route = g.name, c.Route
			}
		}
		list = append(list, g.commands...)
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
		if table[c.Op] != nil {
			panic("command: " + c.Name + " and " + table[c.Op].Name + " have the same number")
		}
		table[c.Op] = c
	}
	return table
}

// Limits of several commands.
const (
	keyByKey = "atomic for each key, not across keys; keys may be in different slots"
	gathered = "atomic if the keys are in one slot; keys of different slots are read each by itself: each is as it was at some moment while the command ran, not all at " +
		"the same one. Refused if the values would take more than 128 MiB of the proxy"
	anySlots  = "keys may be in different slots: one of them answers. Clients of one proxy are served in the order in which they came"
	ofOneSlot = "refused with `CROSSSLOT` if the keys are in different slots"
	drawn     = "refused when the reply would be longer than `proto-max-bulk-len`"
	paged     = "returns up to 512 elements at once; more in pages, of which one may be empty. Cursors are numbers below 2^53, and those of one node are good on every other"
)

// oneKey is the specification of a command whose only key is its first argument.
func oneKey(flags KeyFlags) []KeySpec {
	return []KeySpec{{First: 1, Last: 1, Step: 1, Flags: flags}}
}

// secondKey is the specification of a subcommand whose only key is behind its name.
func secondKey(flags KeyFlags) []KeySpec {
	return []KeySpec{{First: 2, Last: 2, Step: 1, Flags: flags}}
}

// oneKeyNoted is oneKey with the remark that Redis makes on the flags.
func oneKeyNoted(flags KeyFlags, notes string) []KeySpec {
	return []KeySpec{{First: 1, Last: 1, Step: 1, Flags: flags, Notes: notes}}
}

// keysBefore is the specification of a command whose arguments are all keys, but for the last one.
func keysBefore(flags KeyFlags) []KeySpec {
	return []KeySpec{{First: 1, Last: -2, Step: 1, Flags: flags}}
}

// countedKeysAt is countedKeys with the number of keys as a later argument.
func countedKeysAt(first int, flags KeyFlags) []KeySpec {
	return []KeySpec{{First: first, Counted: true, Flags: flags}}
}

// countedKeys is the specification of a command of as many keys as its first argument says.
func countedKeys(flags KeyFlags) []KeySpec {
	return []KeySpec{{First: 1, Counted: true, Flags: flags}}
}

// storedOf is the specification of a command that stores under its first key what it makes of others.
func storedOf(flags KeyFlags, others KeySpec) []KeySpec {
	others.Flags = KeyRO | KeyAccess
	return []KeySpec{{First: 1, Last: 1, Step: 1, Flags: flags}, others}
}

// allKeys is the specification of a command whose arguments are all keys.
func allKeys(flags KeyFlags) []KeySpec {
	return []KeySpec{{First: 1, Last: -1, Step: 1, Flags: flags}}
}
