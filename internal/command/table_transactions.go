package command

// transactionCommands are those that make commands a transaction, and that watch keys for it.
var transactionCommands = []*Command{
	{Name: "multi", Op: OpMulti, Route: RouteProxy, Arity: 1, Flags: flagsTransaction | FlagFast | FlagAllowBusy, Categories: CatTransaction,
		Since: "1.2.0", Summary: "Mark the start of a transaction block",
		Complexity: "O(1)"},
	{Name: "exec", Op: OpExec, Route: RouteProxy, Arity: 1, Flags: flagsTransaction | FlagSkipSlowlog, Categories: CatTransaction,
		Since: "1.2.0", Summary: "Execute all commands issued after MULTI",
		Complexity: "Depends on commands in the transaction",
		Differs: "answers with `EXECABORT` if a key was in another slot than the others, watched ones included, which the command that named it was told with `CROSSSLOT`; if a command " +
			"of all slots (FLUSHALL; DBSIZE, KEYS, SCAN, RANDOMKEY and FLUSHDB, unless the database is placed together) came together with keys; or CLIENT CACHING, or CLIENT REPLY OFF or SKIP; or scripts of users with different rules, if AUTH came between them",
		Limits: "the commands of one transaction may take 64 MiB of the proxy. After HELLO in a transaction its commands on keys are still answered in the protocol that was in use at EXEC. " +
			"Without memory for more data the first command that may need some is refused when it is queued, as all are in Redis, if the proxy has seen such a refusal in the last ten seconds; else EXEC is. " +
			"With keys DBSIZE, KEYS, SCAN, RANDOMKEY and FLUSHDB are refused if the database has more than 10,000 keys; SCAN replies all of them, with the cursor 0"},
	{Name: "discard", Op: OpDiscard, Route: RouteProxy, Arity: 1, Flags: flagsTransaction | FlagFast | FlagAllowBusy, Categories: CatTransaction,
		Since: "2.0.0", Summary: "Discard all commands issued after MULTI",
		Complexity: "O(N), when N is the number of queued commands"},
	{Name: "watch", Op: OpWatch, Route: RouteProxy, Arity: -2, Flags: flagsTransaction | FlagFast | FlagAllowBusy, Categories: CatTransaction,
		KeySpecs: allKeys(KeyRO),
		Since:    "2.2.0", Summary: "Watch the given keys to determine execution of the MULTI/EXEC block",
		Complexity: "O(1) for every key.",
		Differs:    "refused with `CROSSSLOT` if the keys, those that are watched already included, are in different slots. The next EXEC is refused then"},
	{Name: "unwatch", Op: OpUnwatch, Route: RouteProxy, Arity: 1, Flags: flagsTransaction | FlagFast | FlagAllowBusy, Categories: CatTransaction,
		Since: "2.2.0", Summary: "Forget about all watched keys",
		Complexity: "O(1)"},
}

const flagsTransaction = FlagNoScript | FlagLoading | FlagStale
