package command

// scriptingCommands run scripts.
var scriptingCommands = []*Command{
	{Name: "eval", Op: OpEval, Route: RouteSlot, Arity: -3, Flags: flagsScript, Categories: CatScripting,
		KeySpecs: scriptKeys(KeyRW|KeyAccess|KeyUpdate, "We cannot tell how the keys will be used so we assume the worst, RW and UPDATE"),
		Since:    "2.6.0", Summary: "Execute a Lua script server side",
		Complexity: "Depends on the script that is executed.",
		Limits:     scriptLimits},
	{Name: "eval_ro", Op: OpEvalRO, Route: RouteSlot, Arity: -3, Flags: FlagReadOnly | flagsScript, Categories: CatScripting,
		KeySpecs: scriptKeys(KeyRO|KeyAccess, "We cannot tell how the keys will be used so we assume the worst, RO and ACCESS"),
		Since:    "7.0.0", Summary: "Execute a read-only Lua script server side",
		Complexity: "Depends on the script that is executed.",
		Limits:     scriptLimits},
	{Name: "evalsha", Op: OpEvalSHA, Route: RouteSlot, Arity: -3, Flags: flagsScript, Categories: CatScripting,
		KeySpecs: scriptKeys(KeyRW|KeyAccess|KeyUpdate, ""),
		Since:    "2.6.0", Summary: "Execute a Lua script server side",
		Complexity: "Depends on the script that is executed.",
		Limits:     scriptLimits},
	{Name: "evalsha_ro", Op: OpEvalSHARO, Route: RouteSlot, Arity: -3, Flags: FlagReadOnly | flagsScript, Categories: CatScripting,
		KeySpecs: scriptKeys(KeyRO|KeyAccess, ""),
		Since:    "7.0.0", Summary: "Execute a read-only Lua script server side",
		Complexity: "Depends on the script that is executed.",
		Limits:     scriptLimits},
	{Name: "script", Op: OpScript, Route: RouteProxy, Arity: -2,
		Since: "2.6.0", Summary: "A container for Lua scripts management commands",
		Complexity: "Depends on subcommand.",
		Without:    []Without{{"scripts run on nodes, where nobody can step through them", "debug"}},
		Subcommands: []*Command{
			{Name: "script|exists", Arity: -3, Flags: FlagNoScript, Categories: CatScripting,
				Tips:  []string{"request_policy:all_shards", "response_policy:agg_logical_and"},
				Since: "2.6.0", Summary: "Check existence of scripts in the script cache.",
				Complexity: "O(N) with N being the number of scripts to check (so checking a single script is an O(1) operation)."},
			{Name: "script|flush", Arity: -2, Flags: FlagNoScript, Categories: CatScripting,
				Tips:  []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
				Since: "2.6.0", Summary: "Remove all the scripts from the script cache.",
				Complexity: "O(N) with N being the number of scripts in cache",
				Limits:     "other proxies may know a script for a second longer"},
			{Name: "script|help", Arity: 2, Flags: FlagLoading | FlagStale, Categories: CatScripting,
				Since: "5.0.0", Summary: "Show helpful text about the different subcommands",
				Complexity: "O(1)"},
			{Name: "script|kill", Arity: 2, Flags: FlagNoScript | FlagAllowBusy, Categories: CatScripting,
				Tips:  []string{"request_policy:all_shards", "response_policy:one_succeeded"},
				Since: "2.6.0", Summary: "Kill the script currently in execution.",
				Complexity: "O(1)",
				Limits:     killLimits},
			{Name: "script|load", Arity: 3, Flags: FlagNoScript | FlagStale, Categories: CatScripting,
				Tips:  []string{"request_policy:all_nodes", "response_policy:all_succeeded"},
				Since: "2.6.0", Summary: "Load the specified Lua script into the script cache.",
				Complexity: "O(N) with N being the length in bytes of the script body."},
		}},
	{Name: "fcall", Op: OpFCall, Route: RouteSlot, Arity: -3, Flags: flagsScript, Categories: CatScripting,
		KeySpecs: scriptKeys(KeyRW|KeyAccess|KeyUpdate, "We cannot tell how the keys will be used so we assume the worst, RW and UPDATE"),
		Since:    "7.0.0", Summary: "Invoke a function",
		Complexity: "Depends on the function that is executed.",
		Limits:     functionLimits},
	{Name: "fcall_ro", Op: OpFCallRO, Route: RouteSlot, Arity: -3, Flags: FlagReadOnly | flagsScript, Categories: CatScripting,
		KeySpecs: scriptKeys(KeyRO|KeyAccess, "We cannot tell how the keys will be used so we assume the worst, RO and ACCESS"),
		Since:    "7.0.0", Summary: "Invoke a read-only function",
		Complexity: "Depends on the function that is executed.",
		Limits:     functionLimits},
	functionCommand,
}

const flagsScript = FlagNoScript | FlagStale | FlagSkipMonitor | FlagNoMandatoryKeys | FlagMovableKeys

// scriptLimits is what is not as in Redis for all scripts.
const scriptLimits = "keys that a script uses must be in one slot. Commands that are of all slots or of a connection are refused in scripts, but for DBSIZE, KEYS, SCAN, RANDOMKEY and FLUSHDB in a database that is placed together, with at most 10,000 keys. A script is " +
	"ended when it takes longer than the nodes' `--lua-time-limit`, 5 s (half a second if it uses all keys of a database), or when it takes more than 64 MiB, and then nothing of it is done. One that uses keys which it was not given is run again with them; in a pipeline, " +
	"commands behind it may then be executed first"

// killLimits is what is not as in Redis when something that runs is killed.
const killLimits = "ends all that have been running for a tenth of a second, on all nodes, also what has written: nothing of it is done, and nothing of the transaction that it is of. What is not killed is ended by its node after `--lua-time-limit`. " +
	"Others are not answered `BUSY` meanwhile: who wants the same keys waits, everybody else goes on. What uses all keys of a database is not killed: it ends after half a second"

// functionLimits is what is not as in Redis for calls of functions.
const functionLimits = "limited as scripts are (EVAL). The code of the library is run before each call, so that its variables have no value of an earlier one. A proxy may call a function as it was " +
	"a second ago if another proxy has changed or deleted its library. In a transaction functions are what they were before EXEC, also behind a FUNCTION LOAD of the transaction"

// scriptKeys is the specification of the keys of scripts.
func scriptKeys(flags KeyFlags, notes string) []KeySpec {
	return []KeySpec{{First: 2, Counted: true, Flags: flags, Notes: notes}}
}

// Writes reports whether a command may change data. Of scripts nobody knows before they have run.
func (c *Command) Writes() bool {
	return c.Flags&FlagWrite != 0 || c.Op == OpEval || c.Op == OpEvalSHA || c.Op == OpFCall || c.Op == OpCall
}
